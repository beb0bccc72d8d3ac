import path from 'node:path';
import ts from 'typescript';
import { root } from './source.ts';

const LIST = path.join(root, 'libs/domain/index.ts');

/**
 * The names of the fields in events and states of the domain whose members the program does not name: of type `unknown`, `object` or
 * `Record<string, unknown>`, however deep they lie. What lies inside of one is not looked at.
 */
export function freeFormFields(): ReadonlySet<string> {
  const program = ts.createProgram([LIST], {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  });
  const finder = new Finder(program.getTypeChecker());
  for (const decider of decidersIn(program.getSourceFile(LIST)!)) finder.visitDecider(decider);
  return finder.found;
}

/** The members of the list of deciders. */
function decidersIn(file: ts.SourceFile): readonly ts.Expression[] {
  for (const statement of file.statements) {
    const list = ts.isVariableStatement(statement) && statement.declarationList.declarations[0]?.initializer;
    if (list && ts.isArrayLiteralExpression(list)) return list.elements;
  }
  throw new Error('libs/domain/index.ts has no list of deciders');
}

class Finder {
  readonly found = new Set<string>();
  private readonly seen = new Set<ts.Type>();
  private readonly checker: ts.TypeChecker;

  constructor(checker: ts.TypeChecker) {
    this.checker = checker;
  }

  visitDecider(decider: ts.Expression): void {
    const type = this.checker.getTypeAtLocation(decider) as ts.TypeReference;
    const [state, , event] = this.checker.getTypeArguments(type);
    if (!state || !event) throw new Error(`${decider.getText()} is not declared as a Decider of a state and events`);
    this.visit(state, decider.getText());
    this.visit(event, decider.getText());
  }

  private visit(type: ts.Type, field: string): void {
    if (type.isUnion()) for (const one of type.types) this.visit(one, field);
    else if (this.isFree(type)) this.found.add(field);
    else if (type.flags & ts.TypeFlags.Object || type.isIntersection()) this.visitMembers(type, field);
  }

  private visitMembers(type: ts.Type, field: string): void {
    if (this.seen.has(type)) return;
    this.seen.add(type);
    for (const { type: member } of this.checker.getIndexInfosOfType(type)) this.visit(member, field);
    if (this.checker.isArrayLikeType(type)) return;
    for (const property of this.checker.getPropertiesOfType(type)) {
      this.visit(this.checker.getTypeOfSymbol(property), property.name);
    }
  }

  private isFree(type: ts.Type): boolean {
    const open = ts.TypeFlags.Any | ts.TypeFlags.Unknown | ts.TypeFlags.NonPrimitive;
    const named = this.checker.getIndexInfosOfType(type).find(({ keyType }) => keyType.flags & ts.TypeFlags.String);
    return Boolean((type.flags | (named?.type.flags ?? 0)) & open);
  }
}
