// Tests that an object that occurs many times in a response is checked only once, unless a repeated check makes a
// difference.
import { execute, parse } from 'graphql'
import { beforeEach, expect, test } from 'vitest'
import { notFound } from '../../src/platform/errors.ts'
import { countObjects } from '../../src/platform/graphql/object-budget.ts'
import { createSchema, readSdl } from '../../src/platform/graphql/schema.ts'
import type { Actor } from '../../src/policy/actor.ts'
import { guardSchema } from '../../src/policy/guard-graphql.ts'
import { permissionSdl } from '../../src/policy/permissions.ts'
import type { Scopes } from '../../src/policy/scopes.ts'

const sdl = `
  extend enum Scope { PROJECT }
  type Thing { id: ID! owner: Thing @can(do: PROJECT_VIEW, on: "parent.id", in: PROJECT) }
  extend type Query {
    things: [Thing!]! @can(do: PROJECT_LIST, in: SYSTEM)
    thing(id: ID!): Thing @can(do: PROJECT_VIEW, on: "id", in: PROJECT)
  }
  extend type Mutation { change(id: ID!): Thing @can(do: PROJECT_VIEW, on: "id", in: PROJECT) @audited(as: ["thing update"]) }`
const rows = Array.from({ length: 9_000 }, (_, i) => ({ id: `id ${i % 3}` }))
const self = (thing: object): object => thing
const byId = (_parent: unknown, { id }: { id: string }) => ({ id })
const thingsOf = (_parent: unknown, _args: object, context: { rows?: object[] }) => context.rows ?? rows
const schema = createSchema(
  [permissionSdl + readSdl(import.meta.url, '../../src/policy/policy.graphql'), sdl],
  [{ Thing: { owner: self }, Query: { things: thingsOf, thing: byId }, Mutation: { change: byId } }],
  {},
)
const scopes: Scopes = {
  PROJECT: { noun: 'project', view: 'PROJECT_VIEW', find: () => Promise.resolve(null) },
}
guardSchema(schema, scopes)
countObjects(schema)

let asked: string[] = []
let missing = new Set<string>()
let [refreshed, onRefresh] = [0, (): void => undefined]
beforeEach(() => {
  ;[asked, missing, refreshed, onRefresh] = [[], new Set(), 0, () => undefined]
})
const actor = {
  isAdministrator: true,
  scopes,
  findTarget: async (_scope: string, [id]: (string | null)[]) => {
    asked.push(id ?? '')
    return missing.has(id ?? '') ? null : { projectId: id }
  },
  refresh: async () => {
    refreshed++
    onRefresh()
  },
} as unknown as Actor
const run = async (text: string) =>
  execute({
    schema,
    document: parse(text, { noLocation: true }),
    contextValue: { actor, deadline: performance.now() + 20_000 },
  })

test('thousands of objects that are three things are three judgements, at each level that has its own policy', async () => {
  const { data, errors } = await run('{ things { owner { owner { id } } } }')
  expect(errors).toBeUndefined()
  expect(data?.['things']).toHaveLength(9_000)
  expect(asked).toEqual(['id 0', 'id 1', 'id 2'])
})

test('what is refused is refused wherever it stands, and nothing else is', async () => {
  missing = new Set(['id 1'])
  const { data, errors = [] } = await run('{ things { id owner { id } } }')
  const shown = data?.['things'] as { id: string; owner: object | null }[]
  expect(shown.every(({ id, owner }) => (owner === null) === (id === 'id 1'))).toBe(true)
  expect(errors.length).toBe(3_000)
  expect(errors[0]?.message).toBe(notFound('project').message)
})

test('keys that only look alike are not taken for each other', async () => {
  missing = new Set(['b'])
  const { data } = await run(
    '{ a: thing(id: "a") { id } b: thing(id: "b") { id } c: thing(id: "a\\",\\"b") { id } }',
  )
  expect([data?.['a'], data?.['b'], data?.['c']]).toEqual([{ id: 'a' }, null, { id: 'a","b' }])
  expect(asked.toSorted()).toEqual(['a', 'a","b', 'b'])
})

test('each mutation is judged by what is so when it begins, and so is what is read behind it', async () => {
  onRefresh = () => (missing = new Set(['x']))
  const { data, errors = [] } = await run(
    'mutation { first: change(id: "x") { owner { id } } second: change(id: "x") { owner { id } } }',
  )
  expect(data).toEqual({ first: { owner: { id: 'x' } }, second: null })
  expect([refreshed, errors.length]).toEqual([1, 1])
  onRefresh = () => undefined
  missing = new Set()
  asked = []
  await run('mutation { first: change(id: "x") { owner { id } } second: change(id: "x") { owner { id } } }')
  expect(asked.length).toBe(4)
})

test('thousands of objects are put together in many turns of the event loop', async () => {
  let [turns, isOver] = [0, false]
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const { data } = await run('{ things { owner { owner { id } } } }')
  isOver = true
  expect(data?.['things']).toHaveLength(9_000)
  expect(turns).toBeGreaterThan(15)
})

test('a refusal that is met first in a later turn is told like any other', async () => {
  const late = rows.map((row, i) => (i > 5_000 && i % 100 === 0 ? { id: 'late' } : row))
  missing = new Set(['late'])
  const { data, errors = [] } = await execute({
    schema,
    document: parse('{ things { id owner { id } } }', { noLocation: true }),
    contextValue: { actor, deadline: performance.now() + 20_000, rows: late },
  })
  const shown = data?.['things'] as { id: string; owner: object | null }[]
  expect(shown.every(({ id, owner }) => (owner === null) === (id === 'late'))).toBe(true)
  expect(errors).toHaveLength(39)
  expect(asked.toSorted()).toEqual(['id 0', 'id 1', 'id 2', 'late'])
})
