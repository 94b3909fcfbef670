// Answers two parts of the conformance kit with the URL parser of Node.js (WHATWG URL).
//
// dvs.decide       whether a trust root covers the URL of a skill
// wellknown.parse  the parts of a well-known URI
import readline from "node:readline";

class Refused extends Error {}

function https(text) {
  const url = new URL(text);
  if (url.protocol !== "https:" || url.username || url.password) throw new Refused("not https");
  return url;
}

function decide({ root, url }) {
  const trusted = https(root);
  const skill = https(url);
  if (!trusted.pathname.endsWith("/")) throw new Refused("the root is not a directory");
  if (skill.origin !== trusted.origin || !skill.pathname.startsWith(trusted.pathname)) throw new Refused("outside of the root");
  return {};
}

function parseWellKnown({ uri }) {
  const url = https(uri);
  const match = /^\/\.well-known\/([^/]+)\/?(.*)$/.exec(url.pathname);
  if (!match) throw new Refused("the path is not well-known");
  return { origin: url.origin, name: match[1], rest: match[2] };
}

const operations = { "dvs.decide": decide, "wellknown.parse": parseWellKnown };

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { id, operation, input } = JSON.parse(line);
  let answer = { class: "unsupported" };
  if (operations[operation]) {
    try {
      answer = { class: "accept", outcome: operations[operation](input) };
    } catch (error) {
      answer = { class: "reject", error: error.message };
    }
  }
  process.stdout.write(JSON.stringify({ id, ...answer }) + "\n");
}
