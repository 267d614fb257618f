// Runs every program in the README and in the client guide as a process, behind an nginx that adds the proxy headers.
// Programs for pages run in Chromium and use the published package.
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startNginx } from '@manager/harness/engines/nginx.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import { type TriggerScene, startTriggerScene } from '../../manager/test/kit/callbacks.ts'
import { seedTenantMember } from '../../manager/test/kit/comms.ts'
import { createToken } from '@manager/harness/credentials.ts'
import { accessCalls, endpointCalls } from '../../manager/test/kit/endpoints.ts'
import { packWorkspaces } from '../../manager/test/kit/pack-workspaces.ts'
import { launchBrowser } from '../../manager/test/kit/pilet-page.ts'
import { blocksOf, readPage } from '../../manager/test/kit/doc-page-runner.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'
import { connect, emit, publish } from '../src/index.ts'

const root = new URL('..', import.meta.url).pathname
const readme = readFileSync(`${root}README.md`, 'utf8')
const blocks = blocksOf(`${readme}\n${readPage('guides/backends/use-the-client.md')}`)
const pageScript = blocksOf(readPage('guides/frontends/show-notifications.md')).find(
  ({ language }) => language === 'js',
)
/** The programs for Node, with their expected output. */
const programs = blocks.flatMap(({ language, text, line }, index) =>
  language === 'ts' ? [{ line, text, output: blocks[index + 1]?.text ?? '' }] : [],
)
const isBackend = ({ text }: { text: string }): boolean => text.includes('createServer')
const folder = mkdtempSync(`${tmpdir()}/client-readme-`)

let scene: TriggerScene
let proxy: Awaited<ReturnType<typeof startNginx>>
let browser: Browser
let machineToken: string
let env: Record<string, string>

/** The proxy in front of the service: it adds the shared secret and the headers of a signed-in user. */
function startProxy(userId: string) {
  const { service, project } = scene
  const own = [
    'proxy_http_version 1.1;',
    'proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;',
    `proxy_set_header X-Proxy-Auth "${proxySecret}"; proxy_set_header X-Forwarded-Host $http_host;`,
    `proxy_set_header X-User-Id ${userId}; proxy_set_header X-Tenant-Id ${project.tenantId};`,
  ].join('\n')
  return startNginx({
    http: "map $http_upgrade $connection_upgrade { default upgrade; '' ''; }",
    server: `
      location = / { default_type text/html; try_files /index.html =404; }
      location /client/ { alias ${folder}/package/dist/; types {} default_type text/javascript; }
      location /comms/ { proxy_pass ${service.url}/api/proxy/comms/${project.applicationId}/; ${own} }
      location ~ ^/(api|query|pilets|esb) { proxy_pass ${service.url}; ${own} }`,
    files: { 'index.html': pageOf(pageScript?.text ?? '') },
  })
}
const pageOf = (script: string): string => `<!doctype html><meta charset="utf-8"><ul></ul>
  <script type="importmap">{"imports": {"@manager/client": "/client/index.js"}}</script>
  <script type="module">${script}</script>`

beforeAll(async () => {
  scene = await startTriggerScene()
  const { service, project, admin } = scene
  const machine = await seedMachineUser(service.sql, project)
  machineToken = machine.token
  const { data } = await endpointCalls(() => service).create(admin, project.applicationId, {
    name: 'orders',
    consumeURL: '/orders',
    url: scene.backend.url,
  })
  await accessCalls(() => service).allow(admin, {
    machineUserID: machine.id,
    endpointID: data.row.id as string,
  })
  const userId = await seedTenantMember(service, project)
  const [tarball = ''] = await packWorkspaces(['client'], folder)
  execFileSync('tar', ['-xzf', tarball, '-C', folder])
  proxy = await startProxy(userId)
  browser = await launchBrowser()
  writeFileSync(`${folder}/token`, machine.token, { mode: 0o600 })
  env = {
    PATH: process.env['PATH'] ?? '',
    MANAGER_URL: proxy.url,
    MACHINE_TOKEN: machine.token,
    MACHINE_TOKEN_FILE: `${folder}/token`,
    MANAGER_TOKEN: (await createToken(service, admin)).token,
    APPLICATION_ID: project.applicationId,
    PROJECT_ID: project.id,
    TENANT_ID: project.tenantId,
  }
})
afterAll(async () => {
  await browser?.close()
  await proxy?.close()
  await scene.close()
  rmSync(folder, { recursive: true, force: true })
})

/**
 * Writes the program to a file, with imports of the source instead of the package. Returns the arguments for
 * Node.
 */
function writeProgram({ text, line }: { text: string; line: number }): string[] {
  const path = `${folder}/program-${line}.ts`
  writeFileSync(
    path,
    text
      .replaceAll("'@manager/client'", `'${root}src/index.ts'`)
      .replaceAll("'@manager/client/documents'", `'${root}src/generated/documents.ts'`),
  )
  return ['--disable-warning=ExperimentalWarning', path]
}

test('every program is followed by what it prints, the one for pages apart', () => {
  const languages = blocks.map(({ language }) => language).join(' ')
  expect(languages.replaceAll('ts text', '').split(/ +/)).toEqual(['sh', ''])
  expect(pageScript?.text).toContain('openNotifications')
  expect(programs.length).toBeGreaterThan(8)
  expect(programs.filter(isBackend)).toHaveLength(1)
})

describe('a program', () => {
  test.each(programs.filter((one) => !isBackend(one)))('at line $line', async (program) => {
    const { stdout } = await promisify(execFile)(process.execPath, writeProgram(program), { env })
    expect(stdout).toBe(program.output)
  })

  test('that is a backend is called by a trigger, and unregisters when it ends', async () => {
    const program = programs.find(isBackend) as (typeof programs)[number]
    const port = String(await freePort())
    const child = spawn(process.execPath, writeProgram(program), {
      env: { ...env, PORT: port, CALLBACK_URL: `http://127.0.0.1:${port}/callbacks` },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let printed = ''
    child.stdout.on('data', (part: Buffer) => (printed += part.toString()))
    const registered = async (): Promise<number> =>
      (await scene.service.sql.query('select id from backend_registrations')).rowCount ?? 0
    await expect.poll(registered).toBe(1)
    const { id } = await scene.createTrigger({ cronExpression: '@yearly', runKey: 'night' })
    await scene.makeDue(id)
    await scene.plan()
    await scene.deliver()
    await expect.poll(() => printed).toBe(program.output)
    expect(await scene.runsOf(id)).toMatchObject([{ outcome: 'delivered' }])
    const statusOf = async (body: string): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })).status
    expect([await statusOf('{}'), await statusOf('x'.repeat(65_536))]).toEqual([401, 413])
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(await registered()).toBe(0)
  })
})

test('the client as it is published shows notifications in Chromium, as they come', async () => {
  const { applicationId, tenantId } = scene.project
  const backend = connect({ url: proxy.url, token: machineToken })
  const page = await browser.newPage()
  const errors: Error[] = []
  page.on('pageerror', (error) => errors.push(error))
  await page.goto(`${proxy.url}/`)
  const items = () => page.locator('li').allTextContents()
  const before = (await emit(backend, { applicationId, tenantId, title: 'first' })).recipientCount
  expect(before).toBe(1)
  await expect.poll(items).toContain('first (new)')
  await publish(backend, { applicationId, tenantId, topic: 'orders', data: { open: 3 } })
  await expect.poll(() => page.title()).toBe('orders: {"open":3}')
  await page.locator('li', { hasText: 'first' }).click()
  await expect.poll(items).toContain('first')
  expect(errors).toEqual([])
  await page.close()
})
