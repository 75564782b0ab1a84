// Parses files with tree-sitter's PowerShell grammar. Prints a line "file:line:column: text" for each text
// that the grammar does not accept, and exits with 1 if there is any.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Language, Parser } from 'web-tree-sitter';

const require = createRequire(import.meta.url);
await Parser.init();
const parser = new Parser();
parser.setLanguage(await Language.load(require.resolve('tree-sitter-powershell/tree-sitter-powershell.wasm')));

let faults = 0;
let nodes = 0;

function walk(node, file) {
  nodes++;
  if (node.isError || node.isMissing) {
    faults++;
    const { row, column } = node.startPosition;
    console.log(`${file}:${row + 1}:${column + 1}: ${node.isMissing ? 'missing ' + node.type : JSON.stringify(node.text.slice(0, 80))}`);
    return;
  }
  if (node.hasError) {
    for (const child of node.children) walk(child, file);
  } else {
    nodes += node.descendantCount - 1;
  }
}

const files = process.argv.slice(2);
for (const file of files) {
  const tree = parser.parse(readFileSync(file, 'utf8'));
  walk(tree.rootNode, file);
  tree.delete();
}
console.log(`${files.length} files, ${nodes} nodes, ${faults} not understood`);
process.exit(faults > 0 ? 1 : 0);
