// Opens session files with Pi's own session manager and tells what it makes of them.
//
// Arguments: the folder node_modules. Standard input: a JSON list of {path, leaf, append}; leaf
// is null for the one that Pi goes on at. Standard output: a list of what each file gives.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const names = ["@earendil-works", "@mariozechner"];
const [home] = names
  .map((name) => join(process.argv[2], name, "pi-coding-agent"))
  .filter((each) => existsSync(each));
const module = join(home, "dist/core/session-manager.js");
const { SessionManager, buildSessionContext } = await import(pathToFileURL(module));

function told({ path, leaf, append }) {
  const before = readFileSync(path, "utf8");
  let manager;
  try {
    manager = SessionManager.open(path);
  } catch (error) {
    return { refused: String(error) };
  }
  const entries = manager.getEntries();
  const active = manager.getLeafId();
  // Where it is opened the agent names old entries itself, so they are told by their place.
  const at = typeof leaf === "number" ? entries[leaf].id : (leaf ?? active);
  const { messages, model, thinkingLevel } = buildSessionContext(entries, at);
  const answer = {
    messages,
    model,
    thinkingLevel,
    leaf: active,
    ids: entries.map(({ id }) => id),
    name: manager.getSessionName() ?? null,
    header: manager.getHeader(),
    labels: Object.fromEntries(
      entries.map(({ id }) => [id, manager.getLabel(id)]).filter(([, label]) => label),
    ),
    unchanged: readFileSync(path, "utf8") === before,
  };
  if (append) {
    const content = [{ type: "text", text: "Go on." }];
    const id = manager.appendMessage({ role: "user", content, timestamp: 1767225700000 });
    manager.appendMessage({
      role: "assistant",
      content,
      api: "anthropic-messages",
      provider: "p",
      model: "m",
      usage: {},
      stopReason: "stop",
      timestamp: 1767225700001,
    });
    answer.under = manager.getEntry(id).parentId;
    answer.grown = readFileSync(path, "utf8").startsWith(before);
    answer.after = SessionManager.open(path).buildSessionContext().messages.length;
  }
  return answer;
}

const jobs = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(jobs.map(told)));
