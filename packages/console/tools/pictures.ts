// Writes the pictures of the console in docs/images: starts the demo with new data, opens pages as Anna, who owns its
// project, and takes each picture in light and in dark.
//   node packages/console/tools/pictures.ts [name of a picture …]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { connect, graphql } from '@manager/client'
import {
  listApplicationsDocument,
  listProjectsDocument,
  listTenantsDocument,
} from '@manager/client/documents'
import { ensureConsoleBuild } from '@manager/harness/console-build.ts'
import { ensureChromium } from '@manager/harness/engines/install.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { type Browser, type Page, chromium } from 'playwright-core'

const root = new URL('../../../', import.meta.url).pathname
const demo = 'packages/manager/tools/demo.ts'
const themes = ['light', 'dark'] as const
/** The pictures are part of the repository, so they must stay small. */
const maxBytes = 150_000
const size = { width: 1280, height: 720 }
const session = { name: 'demo_person', value: 'anna' }

type World = { project: string; tenant: string; application: string }
type Picture = {
  name: string
  path: (world: World) => string
  /** Brings the page into the state to show. */
  prepare?: (page: Page) => Promise<void>
}

const pictures: readonly Picture[] = [
  { name: 'overview', path: ({ project }) => `${project}/overview?range=7d` },
  {
    name: 'tenant',
    path: ({ project, tenant }) => `${project}/tenants?open=${tenant}&tab=applications`,
  },
  {
    name: 'access',
    path: ({ project }) => `${project}/access`,
    prepare: async (page) => {
      await page.locator('.access-cell:has(.access-off)').first().click()
      await page.locator('.access-cell:has(> .muted)').first().click()
      await page.getByText('members of these tenants').waitFor()
    },
  },
  { name: 'members', path: ({ project }) => `${project}/members` },
  {
    name: 'invitations',
    path: ({ project }) => `${project}/members?tab=invitations`,
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Invite', exact: true }).click()
      await page.getByRole('textbox', { name: 'E-mail address' }).fill('jonas@partner.example')
    },
  },
  {
    name: 'settings',
    path: ({ project, tenant, application }) =>
      `${project}/settings?application=${application}&tenant=${tenant}`,
  },
]

type Demo = { origin: string; close: () => Promise<void> }

/** Starts the demo with an empty folder, and waits until the console can be opened. */
async function startDemo(): Promise<Demo> {
  const folder = mkdtempSync(`${tmpdir()}/console-pictures-`)
  // If this process runs as root, PostgreSQL runs as another user, which must be able to enter the folder.
  chmodSync(folder, 0o755)
  const port = await freePort()
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', demo], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: folder, DEMO_PORT: String(port) },
  })
  const exit = once(child, 'exit')
  const close = async (): Promise<void> => {
    child.kill('SIGTERM')
    await exit
    rmSync(folder, { recursive: true, force: true })
  }
  const isReady = new Promise<void>((resolve) => {
    createInterface(child.stdout).on('line', (line) => {
      if (/^ *console +http/.test(line)) resolve()
    })
  })
  const failure = exit.then(([code]) => {
    throw new Error(`${demo} exited with ${String(code)}`)
  })
  await Promise.race([isReady, failure]).catch(async (error: unknown) => {
    await close()
    throw error
  })
  failure.catch(() => {})
  return { origin: `http://127.0.0.1:${port}`, close }
}

/** Returns the objects that the pictures show: the first project, tenant and application of the demo. */
async function readWorld(origin: string): Promise<World> {
  const connection = connect({ url: origin, headers: { cookie: `${session.name}=${session.value}` } })
  const { projects } = await graphql(connection, listProjectsDocument, {})
  const projectSlug = projects[0]?.slug ?? ''
  const { tenants } = await graphql(connection, listTenantsDocument, { projectSlug })
  const { applications } = await graphql(connection, listApplicationsDocument, { projectSlug })
  return { project: projectSlug, tenant: tenants[0]?.id ?? '', application: applications[0]?.id ?? '' }
}

/** Takes one picture in one theme. Returns its file. */
async function takePicture(
  browser: Browser,
  address: string,
  { name, prepare }: Picture,
  theme: (typeof themes)[number],
): Promise<string> {
  const context = await browser.newContext({
    viewport: size,
    colorScheme: theme,
    locale: 'en-US',
    reducedMotion: 'reduce',
  })
  await context.addCookies([{ ...session, url: new URL(address).origin }])
  const page = await context.newPage()
  await page.goto(address)
  await page.locator('h1').first().waitFor()
  await page.waitForLoadState('networkidle')
  await page.locator('.skeleton, .access-loading').first().waitFor({ state: 'detached' })
  await prepare?.(page)
  const file = `${root}docs/images/console-${name}-${theme}.png`
  await page.screenshot({ path: file, animations: 'disabled' })
  await context.close()
  return file
}

async function takePictures(names: readonly string[]): Promise<void> {
  // Otherwise, the demo would start with an older build, or without a build.
  await ensureConsoleBuild()
  const { origin, close } = await startDemo()
  const browser = await chromium.launch({ executablePath: ensureChromium(), args: ['--no-sandbox'] })
  try {
    const world = await readWorld(origin)
    for (const picture of pictures.filter(({ name }) => names.length === 0 || names.includes(name)))
      for (const theme of themes) {
        const address = `${origin}/console/p/${picture.path(world)}`
        const file = await takePicture(browser, address, picture, theme)
        const bytes = statSync(file).size
        process.stdout.write(`${file}: ${(bytes / 1_000).toFixed(0)} kB\n`)
        if (bytes > maxBytes) throw new Error(`${file} is larger than ${maxBytes / 1_000} kB`)
      }
  } finally {
    await browser.close()
    await close()
  }
}

await takePictures(process.argv.slice(2))
