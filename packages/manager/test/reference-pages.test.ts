// The generated reference: every operation and route has its entry, and the examples of GraphQL run.
import { globSync, readFileSync } from 'node:fs'
import { buildSchema } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Person } from '@manager/harness/callers.ts'
import { seedUser } from '@manager/harness/seed.ts'
import { type TestApp, startTestApp } from './kit/app.ts'

const docs = new URL('../../../docs/', import.meta.url).pathname
const read = (path: string): string => readFileSync(docs + path, 'utf8')
const pagesIn = (folder: string): string[] => globSync(`reference/${folder}/*.md`, { cwd: docs }).toSorted()

let service: TestApp
let admin: Person
beforeAll(async () => {
  service = await startTestApp()
  admin = await seedUser(service.sql, 'admin', 'administrator')
})
afterAll(() => service.close())

test('every query and mutation has an entry with its permission', () => {
  const pages = pagesIn('graphql').map(read).join('\n')
  const entries = new Map(
    [...pages.matchAll(/^### `(\w+)`\n([\s\S]*?)(?=^##)/gm)].map(([, name, text]) => [name, text]),
  )
  const schema = buildSchema(read('api/schema.graphql'))
  for (const type of [schema.getQueryType(), schema.getMutationType()])
    for (const name of Object.keys(type?.getFields() ?? {}))
      expect([name, entries.get(name)]).toEqual([name, expect.stringMatching(/^- Permission: `[A-Z0-9_]+`/m)])
})

test('every route of the API document has an entry, but those of development', () => {
  const pages = pagesIn('rest').map(read).join('\n')
  const { paths } = JSON.parse(read('api/openapi.json')) as {
    paths: Record<string, Record<string, { tags?: string[] }>>
  }
  const missing = Object.entries(paths)
    .filter(
      ([, methods]) => !Object.values(methods).some(({ tags }) => tags?.includes('development') === true),
    )
    .map(([path]) => path)
    .filter((path) => !pages.includes(` ${path}\``))
  expect(missing).toEqual([])
})

const examples = pagesIn('graphql').flatMap((page) =>
  [...read(page).matchAll(/```graphql\n((?:query|mutation)[\s\S]*?)```\n(?:\n```json\n([\s\S]*?)```)?/g)].map(
    ([, document = '', variables = '{}']) => ({ page, document, variables }),
  ),
)

test.each(examples)('$page: $document', async ({ document, variables }) => {
  const { errors } = await service.query(admin, document, JSON.parse(variables) as Record<string, unknown>)
  // The ids are examples: the documents pass all checks but the search for their objects.
  expect(errors.filter(({ extensions }) => extensions?.code !== 'not_found')).toEqual([])
})
