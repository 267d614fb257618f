// Generates TypeScript for the operations in packages/client and packages/console. Each operation is a separate constant with
// types for its variables and its result, so that a bundle contains only the operations that it uses.
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  Source,
  TokenKind,
  type VariableDefinitionNode,
  buildSchema,
  concatAST,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
  print,
  stripIgnoredCharacters,
  typeFromAST,
  validate,
  visit,
} from 'graphql'

const scalars: Record<string, string> = {
  ID: 'string',
  String: 'string',
  Int: 'number',
  Float: 'number',
  Boolean: 'boolean',
}

/**
 * Returns a module with all operations of a folder. Throws if an operation does not match the schema.
 */
export function generateClientDocuments(folder: string, sdl: string): string {
  const { inputs, operations } = renderOperations(folder, sdl)
  return `import type { TypedDocument } from '../graphql.ts'

${inputs.map(({ source }) => source).join('\n')}
${operations.map(({ source }) => source).join('\n')}`
}

/**
 * Returns modules by name: one for each file in a folder, so that a bundler can load the operations of a page together
 * with the page, and `documents`, which re-exports all of them.
 */
export function generateConsoleDocuments(folder: string, sdl: string): Record<string, string> {
  const { inputs, operations } = renderOperations(folder, sdl)
  const files = [...new Set(operations.map(({ file }) => file))].toSorted()
  const names = ['types', ...files.map((file) => path.basename(file, '.graphql'))]
  return {
    documents: names.map((name) => `export * from './documents/${name}.ts'`).join('\n'),
    'documents/types': inputs.map(({ source }) => source).join('\n'),
    ...Object.fromEntries(
      files.map((file) => [
        `documents/${path.basename(file, '.graphql')}`,
        renderModule(
          operations.filter((operation) => operation.file === file).map(({ source }) => source),
          inputs.map(({ name }) => name),
        ),
      ]),
    ),
  }
}

function renderModule(sources: readonly string[], inputNames: readonly string[]): string {
  const text = sources.join('\n')
  const words = new Set(text.match(/\w+/g))
  const used = inputNames.filter((name) => words.has(name))
  const inputs = used.length === 0 ? '' : `import type { ${used.join(', ')} } from './types.ts'`
  return `import type { TypedDocument } from '@manager/client'
${inputs}

${text}`
}

type Rendered = {
  inputs: { name: string; source: string }[]
  operations: { file: string; source: string }[]
}

function renderOperations(folder: string, sdl: string): Rendered {
  const schema = buildSchema(sdl)
  const files = globSync('*.graphql', { cwd: folder }).toSorted()
  const document = concatAST(
    files.map((file) => parse(new Source(readFileSync(`${folder}/${file}`, 'utf8'), file))),
  )
  const errors = validate(schema, document)
  if (errors.length > 0) throw new Error(`client documents: ${errors.map(String).join('\n')}`)
  const names = new Set<string>()
  const operations = inlineFragments(document).map((operation) => ({
    file: operation.loc?.source.name ?? '',
    source: renderOperation(schema, operation, names),
  }))
  return { inputs: renderInputs(schema, names), operations }
}

/** Returns the operations sorted by name, with fragment spreads replaced by their fields. */
function inlineFragments(document: DocumentNode): OperationDefinitionNode[] {
  const fragments = new Map(
    document.definitions
      .filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION)
      .map((node) => [node.name.value, node]),
  )
  const expand = ({ selections }: SelectionSetNode): SelectionNode[] =>
    selections.flatMap((node) =>
      node.kind === Kind.FRAGMENT_SPREAD
        ? expand((fragments.get(node.name.value) as FragmentDefinitionNode).selectionSet)
        : [node],
    )
  return document.definitions
    .filter((node) => node.kind === Kind.OPERATION_DEFINITION)
    .map((node) => visit(node, { SelectionSet: { enter: (set) => ({ ...set, selections: expand(set) }) } }))
    .toSorted((a, b) => (a.name?.value ?? '').localeCompare(b.name?.value ?? ''))
}

function renderOperation(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  inputs: Set<string>,
): string {
  const name = operation.name?.value ?? ''
  const typeName = name.charAt(0).toUpperCase() + name.slice(1)
  const root = schema.getRootType(operation.operation) as GraphQLObjectType
  const variables = (operation.variableDefinitions ?? []).map((node) => renderVariable(schema, node, inputs))
  const previousToken = operation.loc?.startToken.prev
  const comment = previousToken?.kind === TokenKind.COMMENT ? previousToken.value : null
  return `export type ${typeName}Result = ${renderSelection(root, operation.selectionSet, inputs)}
export type ${typeName}Variables = { ${variables.join('\n')} }
${comment === null ? '' : `/**${comment} */\n`}export const ${name}Document = ${JSON.stringify(stripIgnoredCharacters(print(operation)))} as TypedDocument<${typeName}Result, ${typeName}Variables>
`
}

function renderVariable(schema: GraphQLSchema, node: VariableDefinitionNode, inputs: Set<string>): string {
  const type = typeFromAST(schema, node.type) as GraphQLInputType
  return renderField(node.variable.name.value, type, inputs)
}

function renderField(name: string, type: GraphQLInputType, inputs: Set<string>): string {
  return `readonly ${name}${isNonNullType(type) ? '' : '?'}: ${renderType(type, (typeName) => {
    if (scalars[typeName] === undefined) inputs.add(typeName)
    return scalars[typeName] ?? typeName
  })}`
}

/** Returns the result type, which contains only the selected fields. */
function renderSelection(
  type: GraphQLObjectType,
  { selections }: SelectionSetNode,
  inputs: Set<string>,
): string {
  const fields = selections.map((node) => {
    if (node.kind !== Kind.FIELD) throw new Error(`client documents: ${node.kind} is not supported`)
    const field = type.getFields()[node.name.value]
    if (field === undefined) throw new Error(`client documents: the field ${node.name.value} does not exist`)
    const fieldType = getNamedType(field.type)
    if (isEnumType(fieldType)) inputs.add(fieldType.name)
    const innerSource =
      isObjectType(fieldType) && node.selectionSet !== undefined
        ? renderSelection(fieldType, node.selectionSet, inputs)
        : (scalars[fieldType.name] ?? fieldType.name)
    return `readonly ${node.alias?.value ?? node.name.value}: ${renderType(field.type, () => innerSource)}`
  })
  return `{ ${fields.join('\n')} }`
}

function renderType(
  type: GraphQLInputType | GraphQLOutputType,
  renderName: (name: string) => string,
): string {
  if (isNonNullType(type)) return renderBareType(type.ofType, renderName)
  return `${renderBareType(type, renderName)} | null`
}

function renderBareType(
  type: GraphQLInputType | GraphQLOutputType,
  renderName: (name: string) => string,
): string {
  if (isListType(type)) return `readonly (${renderType(type.ofType, renderName)})[]`
  return renderName(getNamedType(type).name)
}

/** Returns the input types and enums that operations use, directly or through other input types. */
function renderInputs(schema: GraphQLSchema, names: Set<string>): Rendered['inputs'] {
  const sources = new Map<string, string>()
  // The loop also visits names that it adds to the set.
  for (const name of names) {
    const type = schema.getType(name)
    if (isEnumType(type))
      sources.set(
        name,
        `export type ${name} = ${type
          .getValues()
          .map((value) => `'${value.name}'`)
          .join(' | ')}`,
      )
    else if (isInputObjectType(type)) {
      const fields = Object.values(type.getFields()).filter((field) => field.deprecationReason === undefined)
      sources.set(
        name,
        `export type ${name} = { ${fields.map((field) => renderField(field.name, field.type, names)).join('\n')} }`,
      )
    }
  }
  return [...sources].toSorted(([a], [b]) => a.localeCompare(b)).map(([name, source]) => ({ name, source }))
}
