// Tests that this release serves callers of earlier releases. The baselines describe the released API. Lines may be
// added. A line may be changed or removed only if it was deprecated in an earlier release.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { responseFields, breakingChanges } from './kit/compatibility.ts'
import { headersOf } from '@manager/harness/callers.ts'
import { rawCall } from './kit/http.ts'
import { useProject } from './kit/project.ts'
import { routesOf } from './kit/routes.ts'
import type { Json } from '../tools/openapi-frame.ts'

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')
const schema = read('../../../docs/api/schema.graphql')
const baseline = read('./baseline-schema.graphql')
const fields = responseFields(JSON.parse(read('../../../docs/api/openapi.json')) as Json)
// The API has rate limits on four routes. An earlier release also declared 429 for these routes; the
// declarations were withdrawn later.
const withdrawn = [
  'GET /cli/authorize',
  'POST /cli/authorize',
  'POST /api/cli/login/start',
  'POST /query',
].map((route) => `${route} 429 `)
const released = read('./baseline-answers.txt')
  .trimEnd()
  .split('\n')
  .filter((line) => !withdrawn.some((answer) => line.startsWith(answer)))

const { service, admin } = useProject()

describe('the GraphQL schema', () => {
  test('[versioning.deprecate-first] a field goes only after it was marked deprecated', () => {
    expect(breakingChanges(baseline, schema)).toEqual([])
  })

  test('[versioning.deprecate-first] what callers would lose is found, and what was deprecated is not', () => {
    const without = (field: RegExp): string => baseline.replace(field, '')
    expect(breakingChanges(baseline, without(/^ {2}deploymentMode: String!$/m))).toEqual([
      'Tenant.deploymentMode was removed.',
    ])
    const now = baseline.replace('deploymentMode: String!\n', 'deploymentMode: String\n')
    expect(breakingChanges(baseline, now)).toHaveLength(1)
    expect(baseline).toMatch(/^ {2}promoteApplication.*@deprecated/m)
    expect(breakingChanges(baseline, without(/^ {2}promoteApplication.*@deprecated.*$/m))).toEqual([])
  })

  test('[versioning.graphql-unversioned] has one address, and nothing that a caller sends chooses another schema', async () => {
    const routes = routesOf(service)
    expect(
      routes.filter(({ path }) => /quer|graphql/i.test(path)).map(({ method, path }) => `${method} ${path}`),
    ).toEqual(['POST /query'])
    const answers = await Promise.all(
      [
        { path: '/query', headers: [] },
        { path: '/query?version=1', headers: [] },
        { path: '/query', headers: [['accept-version', '1']] },
        { path: '/query', headers: [['x-api-version', '2020-01-01']] },
      ].map(async ({ path, headers }) => {
        const { status, body } = await rawCall(service.url, {
          method: 'POST',
          path,
          headers: [
            ['content-type', 'application/json'],
            ...Object.entries(headersOf(admin)),
            ...(headers as [string, string][]),
          ],
          body: JSON.stringify({ query: '{ schema: __schema { types { name fields { name } } } }' }),
        })
        return { status, body }
      }),
    )
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200])
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1)
  })
})

describe('answers of REST routes', () => {
  test('[versioning.extra-fields] keep every field with its name and type; more may come', () => {
    expect(released.length).toBeGreaterThan(300)
    expect(released.filter((line) => !fields.includes(line))).toEqual([])
  })

  test('[versioning.extra-fields] a field that is renamed, of another type, or gone is found; a new one is no fault', () => {
    const document = JSON.parse(read('../../../docs/api/openapi.json')) as Json
    const changed = JSON.stringify(document).replace(
      '"has_access":{"type":"boolean"',
      '"has_access":{"type":"string"',
    )
    const now = responseFields(JSON.parse(changed) as Json)
    const lost = released.filter((line) => !now.includes(line))
    expect(lost).toHaveLength(2)
    expect(lost[0]).toContain('application.has_access "boolean"')
    expect(now.filter((line) => !fields.includes(line))).toHaveLength(2)
  })
})
