// Tests the guarantees for auditors: the evidence contains every change, and no change is in the wrong query.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { createFakeOrchestrator } from '../kit/deployments.ts'
import { changes, makeChanges } from './changes.ts'
import { type Completeness, checkCompleteness, readTrail } from './completeness.ts'
import { expectedQueries, inNoQuery, routesWithoutRow, withoutRow } from './expected.ts'

let service: TestApp
let found: Completeness
const rowsOfChange: [string, number][] = []
beforeAll(async () => {
  service = await startTestApp({ world: { orchestrator: createFakeOrchestrator() } })
  let rows = 0
  const { people } = await makeChanges(service, changes, async ({ name }) => {
    const count = (await readTrail(service)).length
    rowsOfChange.push([name, count - rows])
    rows = count
  })
  found = await checkCompleteness(service, people.administrator)
}, 240_000)
afterAll(() => service.close())

describe('completeness of evidence', () => {
  test('every row of the trail is in exactly the queries that the table says', () => {
    process.stdout.write(
      `evidence rows=${found.rows} kinds=${found.kinds.size} surprises=${found.surprises.length}\n`,
    )
    expect(found.surprises).toEqual([])
  })

  test('every line of the table was met, so none of them is stale', () => {
    const known = [...Object.keys(expectedQueries), ...Object.keys(inNoQuery)]
    expect(known.filter((kind) => !found.kinds.has(kind))).toEqual([])
    expect(known).toHaveLength(new Set(known).size)
  })

  test('a change without a row in the trail is on the list', () => {
    const silent = rowsOfChange
      .filter(([, rows]) => rows === 0)
      .map(([name]) => name.replace('Mutation.', ''))
    expect(silent.toSorted()).toEqual(withoutRow)
  })

  test('every mutation of the schema was tried, and every row that operations and routes declare was met', () => {
    const { fields, routes } = service.app
    const mutations = fields.filter(({ type }) => type === 'Mutation').map(({ field }) => `Mutation.${field}`)
    const tried = new Set(changes.map(({ name }) => name))
    expect(mutations.filter((name) => !tried.has(name))).toEqual([])
    const declared = [...fields, ...routes].flatMap(({ audited }) => audited ?? [])
    const met = new Set([...found.kinds].map((kind) => kind.split(',')[0]))
    expect(declared.filter((kind) => !met.has(kind))).toEqual([])
  })

  test('a route that changes something appends a row, or is on the list with a reason', () => {
    const silent = service.app.routes
      .filter(
        ({ method, path, audited }) =>
          !['GET', 'HEAD'].includes(method) && path !== '/esb/*' && audited.length === 0,
      )
      .map(({ method, path }) => `${method} ${path}`)
    expect(silent.toSorted()).toEqual(Object.keys(routesWithoutRow).toSorted())
  })
})
