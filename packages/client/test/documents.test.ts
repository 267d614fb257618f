// Tests that programs do not need to write operations themselves: @manager/client/documents has a document for every
// root field.
import { globSync, readFileSync } from 'node:fs'
import { type GraphQLFieldMap, Kind, type OperationDefinitionNode, buildSchema, parse } from 'graphql'
import { expect, test } from 'vitest'
import * as documents from '../src/generated/documents.ts'

const root = new URL('../../..', import.meta.url).pathname
const folder = `${root}packages/client/src/documents/`
const schema = buildSchema(readFileSync(`${root}docs/api/schema.graphql`, 'utf8'))
const rootFields: GraphQLFieldMap<unknown, unknown> = {
  ...schema.getQueryType()?.getFields(),
  ...schema.getMutationType()?.getFields(),
}
const sources = globSync('*.graphql', { cwd: folder }).map((file) => readFileSync(folder + file, 'utf8'))
const operations = parse(sources.join('\n')).definitions.filter(
  (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
)
const selections = operations.flatMap(({ selectionSet }) =>
  selectionSet.selections.filter((node) => node.kind === Kind.FIELD),
)

/** These fields always return an error, so the client has no documents for them. */
const withoutDocument = ['promoteApplication', 'copyApplication']

test('every root field of the schema has a document, except those that always return an error', () => {
  const selected = new Set(selections.map(({ name }) => name.value))
  expect(selected.size).toBeGreaterThan(100)
  expect(Object.keys(rootFields).filter((name) => !selected.has(name))).toEqual(withoutDocument)
  for (const name of withoutDocument)
    expect(rootFields[name]?.deprecationReason).toMatch(/Always returns an error/)
})

test('every document is exported', () => {
  expect(Object.keys(documents).toSorted()).toEqual(
    operations.map(({ name }) => `${name?.value}Document`).toSorted(),
  )
})

test('every argument that guards against concurrent changes, or that continues a list, is a variable', () => {
  const guarded = selections.filter(({ name }) =>
    (rootFields[name.value]?.args ?? []).some((argument) => /^(expectedRevision|after)$/.test(argument.name)),
  )
  expect(guarded.length).toBeGreaterThan(40)
  for (const { name, arguments: passed = [] } of guarded)
    expect([name.value, ...passed.map((argument) => argument.name.value)]).toEqual(
      expect.arrayContaining([expect.stringMatching(/^(expectedRevision|after)$/)]),
    )
})
