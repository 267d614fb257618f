// Opens the console as a person would: in Chromium, behind nginx with the reference configuration, with the built
// console and a real service.
import { ensureConsoleBuild } from '@manager/harness/console-build.ts'
import { type Person, proxySecret } from '@manager/harness/callers.ts'
import { createToken } from '@manager/harness/credentials.ts'
import { type ReferenceProxy, createReferenceProxy } from '@manager/harness/engines/nginx-proxy.ts'
import { type SeededProject, seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { type TestApp, type TestAppOptions, startTestApp } from '../../../manager/test/kit/app.ts'
import { complaintsOf } from '../../../manager/test/kit/cli-login-page.ts'
import { launchBrowser } from '../../../manager/test/kit/pilet-page.ts'
import { renderProxy } from '../../../manager/test/kit/rendered-proxy.ts'

type Role = 'readonly' | 'tester' | 'developer' | 'maintainer' | 'owner'
export type View = { width?: 360 | 1280; theme?: 'light' | 'dark'; locale?: string }

export type Visit = {
  page: Page
  context: BrowserContext
  /** Messages in the browser's developer console, such as violations of the policy header, and script errors. */
  complaints: string[]
  /** Addresses outside the origin that the page has requested. */
  foreignRequests: string[]
  /** Opens an address below /console, and by default waits until its files are loaded. */
  open: (path: string, until?: 'commit' | 'load') => Promise<void>
}

export type Scene = {
  service: TestApp
  admin: Person
  project: SeededProject
  proxy: ReferenceProxy
  origin: string
  browser: Browser
  person: (name: string) => Promise<Person>
  member: (name: string, role: Role) => Promise<Person>
  /** Opens a browser context in which every request carries the person's credential. */
  visit: (person: Person, view?: View) => Promise<Visit>
}

const host = 'manager.localhost'

/** `env` and `world` differ from the defaults of the service, such as its settings and its orchestrator. */
type Options = Pick<TestAppOptions, 'env' | 'world'> & { slug?: string }

/** Starts everything before the tests in a file. The returned object is filled before the first test. */
export function useConsole({ slug = 'main', env = {}, world = {} }: Options = {}): Scene {
  const scene = {} as Scene
  beforeAll(async () => {
    const [consoleFolder, browser] = await Promise.all([ensureConsoleBuild(), launchBrowser()])
    const service = await startTestApp({ env, world: { consoleFolder, ...world } })
    const admin = await seedUser(service.sql, 'admin', 'administrator')
    const project = await seedProject(service.sql, slug)
    const proxy = await createReferenceProxy({ managerUrl: service.url, secret: proxySecret })
    await proxy.start(
      await renderProxy(service, { form: 'nginx', management: host, backendUrl: 'http://127.0.0.1:9' }),
    )
    const person = (name: string): Promise<Person> => seedUser(service.sql, name)
    Object.assign(scene, { service, admin, project, proxy, browser, person })
    Object.assign(scene, {
      origin: `http://${host}:${proxy.port}`,
      member: async (name: string, role: Role) => {
        const added = await person(name)
        await seedMember(service.sql, added, role, { projectId: project.id })
        return added
      },
      visit: (visitor: Person, view?: View) => visit(scene, visitor, view),
    })
  })
  afterEach(async () => {
    for (const context of scene.browser?.contexts() ?? []) {
      // A handler that still runs would fail when its page closes.
      for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' })
      await context.close()
    }
  })
  afterAll(async () => {
    await scene.browser?.close()
    await scene.proxy?.close()
    await scene.service?.close()
  })
  return scene
}

async function visit(
  scene: Scene,
  person: Person,
  { width = 1280, theme = 'light', locale = 'en-US' }: View = {},
): Promise<Visit> {
  const { token } = await createToken(scene.service, person)
  const context = await scene.browser.newContext({
    viewport: { width, height: width === 360 ? 740 : 800 },
    colorScheme: theme,
    locale,
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
    extraHTTPHeaders: { authorization: `Bearer ${token}` },
  })
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const complaints = complaintsOf(page)
  const foreignRequests: string[] = []
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    if (protocol.startsWith('http') && origin !== scene.origin) foreignRequests.push(request.url())
  })
  return {
    page,
    context,
    complaints,
    foreignRequests,
    open: async (path, until = 'load') => {
      await page.goto(`${scene.origin}/console${path}`, { waitUntil: until })
    },
  }
}

/** Waits until the page shows a title and no panel is loading. */
export async function waitForPage(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor()
  // The policy of the page forbids evaluating strings, so this function cannot use `waitForFunction`.
  await expect.poll(() => page.locator('.skeleton').count(), { timeout: 30_000 }).toBe(0)
}
