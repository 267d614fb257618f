// Tests that objects are counted while they are produced, and that no more rows are read than a response may contain.
import { type GraphQLSchema, buildSchema, execute, parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { load } from './loaders.ts'
import { countObjects } from './object-budget.ts'
import { waitForRejection } from './rejected-responses.ts'

const sdl = `
  directive @large on OBJECT
  type Query { nodes(limit: Int): [Node!]! one: Node }
  type Node { id: ID! nodes(limit: Int): [Node!]! maybe(limit: Int): [Node!] one: Node parts: [Part!]! texts: [Text!]! }
  type Part { id: ID! }
  type Text @large { id: ID! }`

/** A tenth of the real limit, so that the tests have less to build. */
const max = 10_000

type Args = { limit?: number }
/** Counts of batches and rows, and the maximum number of rows that were requested but not yet delivered. */
type Reads = { batches: number; rows: number; open: number; mostOpen: number }

/**
 * Builds a schema in which each list has `rowsOf(limit)` rows. As in production, concurrent requests are read in one
 * batch.
 */
function schemaOf(rowsOf: (limit: number) => number, most = max): { schema: GraphQLSchema; reads: Reads } {
  const schema = buildSchema(sdl)
  const reads: Reads = { batches: 0, rows: 0, open: 0, mostOpen: 0 }
  let ids = 0
  const node = () => ({
    id: String(ids++),
    parts: [{ id: 'p' }],
    texts: Array.from({ length: 50 }, () => ({ id: 't' })),
  })
  const readMany = async (limit: number, keys: readonly string[]) => {
    reads.batches++
    reads.open += keys.length * limit
    reads.mostOpen = Math.max(reads.mostOpen, reads.open)
    await new Promise((resolve) => setTimeout(resolve, 1))
    reads.open -= keys.length * limit
    reads.rows += keys.length * rowsOf(limit)
    return keys.map(() => Array.from({ length: rowsOf(limit) }, node))
  }
  const list = ({ id = 'root' }: { id?: string }, { limit = 100 }: Args, context: object) =>
    load(context, `nodes ${limit}`, id, (keys) => readMany(limit, keys))
  const types = [schema.getType('Query'), schema.getType('Node')] as unknown as {
    getFields(): Record<string, { resolve?: unknown }>
  }[]
  for (const type of types)
    for (const [name, field] of Object.entries(type.getFields())) {
      if (name === 'nodes' || name === 'maybe') field.resolve = list
      if (name === 'one') field.resolve = () => node()
    }
  countObjects(schema, most)
  return { schema, reads }
}
async function run(schema: GraphQLSchema, text: string) {
  const contextValue = {}
  const executed = execute({ schema, document: parse(text), rootValue: {}, contextValue })
  return Promise.race([executed, waitForRejection(contextValue)])
}

const tooMany = 'this response would have more than 10000 objects; request smaller pages or fewer levels'

describe('a response', () => {
  test('of as many objects as there may be passes, and one more object is too many', async () => {
    const { schema } = schemaOf((limit) => limit)
    const document = (last: number): string =>
      `{ nodes(limit: 1) { nodes { nodes(limit: 97) { id } } } more: nodes(limit: ${last}) { nodes(limit: 1) { nodes(limit: 2) { id } } } }`
    expect(1 + 100 + 9_700 + 49 * 4 + 3).toBe(max)
    expect((await run(schema, document(49))).errors).toBeUndefined()
    const refused = await run(schema, document(50))
    expect([refused.data, refused.errors?.[0]?.message]).toEqual([null, tooMany])
  })

  test('with a million possible objects and few real ones passes, with the pages of many lists in one read', async () => {
    const { schema, reads } = schemaOf((limit) => limit / 20, 100_000)
    const { errors } = await run(
      schema,
      '{ nodes(limit: 100) { nodes { nodes { nodes { nodes { id } } } } } }',
    )
    expect(errors).toBeUndefined()
    // The 781 lists have 5, 25, 125, 625 and 3,125 rows per level, and 250 lists are read together.
    expect(reads.rows).toBe(3_905)
    expect(reads.batches).toBeLessThan(10)
  })

  test('that would have millions of objects ends after few reads, none of them large', async () => {
    const { schema, reads } = schemaOf((limit) => limit)
    const { data, errors } = await run(schema, '{ nodes { nodes { nodes { nodes { id } } } } }')
    expect([data, errors?.[0]?.message]).toEqual([null, tooMany])
    expect(reads.mostOpen).toBeLessThanOrEqual(max)
    expect(reads.rows).toBeLessThanOrEqual(2 * max)
    // The rejection stops running reads: nothing is read after the response.
    const { batches } = reads
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(reads.batches).toBe(batches)
  })

  test('is refused as a whole and with one error, also where its lists may be null', async () => {
    const { schema } = schemaOf((limit) => limit)
    const { data, errors } = await run(schema, '{ nodes(limit: 50) { maybe { maybe(limit: 4) { id } } } }')
    expect([data, errors?.length, errors?.[0]?.message]).toEqual([null, 1, tooMany])
    expect(errors?.[0]?.path).toEqual(['nodes', expect.any(Number), 'maybe', expect.any(Number), 'maybe'])
  })

  test('is built in many turns of the event loop', async () => {
    const { schema } = schemaOf((limit) => limit)
    let turns = 0
    const count = (): void => void (turns++, (timer = setImmediate(count)))
    let timer = setImmediate(count)
    await run(schema, '{ nodes(limit: 10) { nodes { nodes(limit: 8) { id } } } }')
    clearImmediate(timer)
    // The response has 9,010 objects, about 1,000 per turn.
    expect(turns).toBeGreaterThan(7)
  })
})

describe('an object', () => {
  test.each([
    [
      'of a list inside its parent counts',
      '{ nodes(limit: 10) { nodes { nodes(limit: 5) { parts { id } } } } }',
      tooMany,
    ],
    ['behind a field counts', '{ nodes(limit: 10) { nodes { nodes(limit: 5) { one { id } } } } }', tooMany],
    [
      'counts again for every other name of its type',
      '{ nodes(limit: 10) { nodes { nodes(limit: 1) { a: __typename b: __typename ...T } } } } fragment T on Node { c: __typename ... { d: __typename } }',
      undefined,
    ],
    ['with large contents counts without them', '{ nodes(limit: 50) { nodes { texts { id } } } }', undefined],
  ])('%s', async (_what, text, problem) => {
    const { schema } = schemaOf((limit) => limit)
    expect((await run(schema, text)).errors?.[0]?.message).toBe(problem)
  })

  test('with many other names for its type counts as many', async () => {
    const { schema } = schemaOf((limit) => limit)
    const names = (count: number): string =>
      Array.from({ length: count }, (_, i) => `t${i}: __typename`).join(' ')
    const asked = (count: number): string => `{ nodes(limit: 10) { nodes { ${names(count)} } } }`
    expect((await run(schema, asked(8))).errors).toBeUndefined()
    expect((await run(schema, asked(9))).errors?.[0]?.message).toBe(tooMany)
  })
})
