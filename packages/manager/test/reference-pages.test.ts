// Tests the generated reference: every operation and route has an entry, and the examples run.
import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildSchema } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, proxySecret } from '@manager/harness/callers.ts'
import { seedMachineUser, seedProject, seedUser } from '@manager/harness/seed.ts'
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
    for (const name of Object.keys(type?.getFields() ?? {})) {
      // The connection of a list is described once for all lists, and requires the same permission as its list.
      const entry = entries.get(name) ?? entries.get(name.replace(/Connection$/, ''))
      expect([name, entry]).toEqual([name, expect.stringMatching(/^- Permission: `[A-Z0-9_]+`/m)])
    }
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
  // The ids are only examples, so the documents pass all checks except the lookup of their objects.
  expect(errors.filter(({ extensions }) => extensions?.code !== 'not_found')).toEqual([])
})

describe('the commands of the REST pages', () => {
  // Skip commands for the health port, which a test app does not have.
  const commands = pagesIn('rest').flatMap((page) =>
    [...read(page).matchAll(/```sh\n(curl [\s\S]*?)```/g)]
      .map(([, command = '']) => ({ page, command }))
      .filter(({ command }) => !command.includes('$HEALTH_URL')),
  )
  let folder: string
  let variables: Record<string, string>
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'reference-pages-'))
    writeFileSync(join(folder, 'bundle.js'), 'export const setup = () => {}')
    const project = await seedProject(service.sql, 'pages')
    const { token } = await seedMachineUser(service.sql, project)
    variables = {
      MANAGER_URL: service.url,
      SVC_PROXY_SECRET: proxySecret,
      MACHINE_TOKEN: token,
      SUBJECT: admin.id,
      USER_ID: admin.id,
      PROJECT_ID: project.id,
      TENANT_ID: project.tenantId,
      APPLICATION_ID: project.applicationId,
      APP_ID: project.applicationId,
      ID: project.applicationId,
      ENDPOINT_PATH: 'orders',
      LOCALE: 'en',
      NAME: 'cart',
      VERSION: '1.0.0',
    }
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test.each(commands)('$page: $command', async ({ command }) => {
    const env = { PATH: process.env['PATH'], ...variables }
    const options = { cwd: folder, env }
    const { stdout } = await promisify(execFile)('bash', ['--norc', '-uc', command], options).catch(
      (error: unknown) => error as { stdout: string },
    )
    // Most ids and credentials are only examples, so the request passes all checks except the lookup of its objects.
    const isRejected = /"(?:bad_request|unsupported_media_type|internal)"|no such route/.test(stdout)
    expect([stdout, isRejected]).toEqual([
      expect.stringMatching(/"valid":false|^(?!.*"unauthenticated")/s),
      false,
    ])
  })
})
