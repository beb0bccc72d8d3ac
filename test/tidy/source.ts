import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

export const root = path.join(import.meta.dirname, '../..');

/** A source file of the project. */
export interface Source {
  file: string;
  text: string;
  /** Its own lines, the last line break apart. */
  lines: number;
  tree: ts.SourceFile;
}

/** Every TypeScript and JavaScript file that belongs to the project, with what is not committed yet. */
export function sources(): Source[] {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts', '*.mjs'], { cwd: root });
  return listed
    .toString('utf8')
    .split('\n')
    .filter((file) => file !== '' && existsSync(path.join(root, file)))
    .map((file) => {
      const text = readFileSync(path.join(root, file), 'utf8');
      const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
      return { file, text, lines: text.trimEnd().split('\n').length, tree };
    });
}

/** `file:line` of a node. */
export function placeOf({ file, tree }: Source, node: ts.Node): string {
  return `${file}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}

/** The nodes of a file that `wanted` says something about, with what it says. */
export function found<T>({ tree }: Source, wanted: (node: ts.Node) => T | undefined): [ts.Node, T][] {
  const results: [ts.Node, T][] = [];
  const visit = (node: ts.Node): void => {
    const result = wanted(node);
    if (result !== undefined) results.push([node, result]);
    node.forEachChild(visit);
  };
  visit(tree);
  return results;
}

/** How many lines a function takes. */
export function functionLines({ tree }: Source, node: ts.Node): number | undefined {
  if (!ts.isFunctionLike(node) || !('body' in node) || !node.body) return undefined;
  const lineAt = (position: number) => tree.getLineAndCharacterOfPosition(position).line;
  return lineAt(node.getEnd()) - lineAt(node.getStart()) + 1;
}

/** A property access as it is written: `process.env`. */
export const accessOf = (node: ts.Node): string | undefined =>
  ts.isPropertyAccessExpression(node) ? node.getText().replace(/\s|\?/g, '') : undefined;

/** Time or randomness taken from the machine. */
export function impurity(node: ts.Node): string | undefined {
  const access = accessOf(node);
  if (access && /^(Date\.now|Math\.random|performance\.now|crypto\.\w+|process\.\w+)$/.test(access)) return access;
  if (ts.isNewExpression(node) && node.expression.getText() === 'Date' && !node.arguments?.length) return 'new Date()';
  if (ts.isCallExpression(node) && node.expression.getText() === 'Date') return 'Date()';
  if (ts.isImportSpecifier(node) && /^(random|getRandom)/.test((node.propertyName ?? node.name).text)) {
    return `import of ${node.name.text}`;
  }
  return ts.isAwaitExpression(node) ? 'await' : undefined;
}

/** The name of a declaration that holds money as a number. */
export function moneyAsNumber(node: ts.Node): string | undefined {
  const isDeclaration = ts.isPropertySignature(node) || ts.isPropertyDeclaration(node) || ts.isParameter(node);
  if (!isDeclaration && !ts.isVariableDeclaration(node)) return undefined;
  const name = node.name.getText();
  const isNumber = node.type !== undefined && /\bnumber\b/.test(node.type.getText());
  return isNumber && /minor$|amount|balance/i.test(name) ? name : undefined;
}
