// Renders formulas: a line of standard input is a JSON list [formula, is displayed]; a line of output is its HTML as JSON.
const katex = require("/usr/share/javascript/katex/katex.js");

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const [formula, displayMode] = JSON.parse(line);
  let answer;
  try {
    answer = { html: katex.renderToString(formula, { displayMode, strict: "ignore" }) };
  } catch (problem) {
    answer = { problem: problem.message };
  }
  console.log(JSON.stringify(answer));
});
