// Runs docs/guides/proxies/terminal-login.md and approves its login in a browser. One run uses the Node
// program and a service that is started like `npm run dev`. The other run uses the Python program behind
// nginx as configured in sign-in-people.md. Bash runs the commands. Only the port differs.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { settings } from '../src/settings.ts'
import { ensurePythonNacl } from '@manager/harness/engines/install.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { alice, openTab, startLoginScene } from './kit/cli-login-page.ts'
import { createScratchDatabase } from './kit/databases.ts'
import { launchBrowser } from './kit/pilet-page.ts'
import {
  type Answer,
  type Ask,
  type Step,
  blocksOf,
  expectMistakesToShow,
  readPage,
  runSteps,
  stepsOf,
} from './kit/doc-page-runner.ts'
import { createShell } from './kit/doc-shell.ts'
import { startProcess } from '@manager/harness/process.ts'

const others = ['js', 'mermaid', 'python']
/** The guide with the steps to run, and the reference with its tables. */
const written = ['guides/proxies/terminal-login.md', 'reference/terminal-login.md'].map(readPage).join('\n')
const folder = mkdtempSync(path.join(tmpdir(), 'docs-cli-login-'))

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
  const codeOf = (language: string): string =>
    blocksOf(written).find((block) => block.language === language)?.text ?? ''
  writeFileSync(path.join(folder, 'box.mjs'), codeOf('js'))
  writeFileSync(path.join(folder, 'box.py'), codeOf('python'))
  // Replace the `npm install` step of the page.
  symlinkSync(new URL('../../../node_modules', import.meta.url).pathname, path.join(folder, 'node_modules'))
})
afterAll(async () => {
  await browser?.close()
  rmSync(folder, { recursive: true, force: true })
})

type Installation = {
  sql: Pool
  host: string
  box: string
  tab: Page
  metrics: () => Promise<string>
  close: () => Promise<void>
}

async function startDevelopment(): Promise<Installation> {
  const database = await createScratchDatabase()
  const sql = new Pool({ connectionString: database.url, max: 2 })
  const port = String(await freePort())
  const host = `localhost:${port}`
  const manager = await startProcess(database.url, {
    SVC_ENV: 'development',
    SVC_DEV_USER_OVERRIDE_ENABLED: 'true',
    SVC_PORT: port,
    SVC_PUBLIC_URL: `http://${host}`,
  })
  return {
    sql,
    host,
    box: 'node box.mjs',
    tab: await browser.newPage(),
    metrics: async () => (await fetch(`${manager.healthUrl}/metrics`)).text(),
    close: async () => {
      manager.child.kill('SIGKILL')
      await manager.exit
      await sql.end()
      await database.drop()
    },
  }
}

async function startBehindNginx(): Promise<Installation> {
  const scene = await startLoginScene()
  const { host } = new URL(scene.proxy.url)
  const box = `${ensurePythonNacl()} box.py`
  return { ...scene, host, box, tab: await openTab(browser, scene, alice) }
}

describe.each([
  ['in development, with Node', startDevelopment],
  ['behind nginx, with Python', startBehindNginx],
])('%s', (_name, start) => {
  let installation: Installation
  let steps: Step[]
  let answers: Answer[]
  /** The text of the browser page before the approval. */
  let shown: string[] = []
  beforeAll(async () => {
    installation = await start()
    const page = written
      .replaceAll('localhost:8080', installation.host)
      .replaceAll('node box.mjs', installation.box)
    steps = stepsOf(page, others)
    answers = await runSteps(steps, createAsk())
  })
  afterAll(() => installation?.close())

  function createAsk(): Ask {
    const runCommand = createShell(folder)
    const { tab } = installation
    return async (_language, command) => {
      const answer = await runCommand(command)
      const { verification_uri: address, status } = answer.body as Record<string, string | undefined>
      if (address !== undefined) await tab.goto(address)
      if (status === 'slow_down') {
        shown = await tab.locator('dd').allTextContents()
        await tab.getByRole('checkbox').check()
        await tab.getByRole('button', { name: 'Approve' }).click()
        await tab.locator('h1', { hasText: 'Approved' }).waitFor()
      }
      return answer
    }
  }

  test('the page is right in every answer, and a mistake in any of them shows', async () => {
    const blocks = blocksOf(written)
    const notPlayed = blocks.filter(({ language }) => others.includes(language))
    expect([answers.length * 2 + notPlayed.length, notPlayed.length]).toEqual([blocks.length, 3])
    await expectMistakesToShow(steps, answers)
  })

  test('the fingerprint of the page in the browser is the one that the terminal computes', () => {
    const step = steps.findIndex(({ request }) => request.text.includes('sha256sum'))
    expect(shown.map((text) => text.replaceAll(' ', ''))).toContain(answers[step]?.body)
  })

  test('what the trail says of it is in the table of what is audited', async () => {
    const { rows } = await installation.sql.query(
      `select entity_type || ' ' || action as entry, principal_type as by from audit_logs
       where entity_type in ('cliLogin', 'personalAccessToken') order by seq`,
    )
    expect(rows.map(({ entry }) => entry)).toEqual([
      'personalAccessToken create',
      'cliLogin approve',
      'cliLogin deliver',
    ])
    for (const { entry, by } of rows)
      expect(written).toMatch(
        new RegExp(`\\| \`${entry}\` +\\| ${by === 'user' ? 'the person' : 'the system'}`),
      )
  })

  test('the metric has the events that the page names', async () => {
    const text = await installation.metrics()
    const sentence = /`svc_cli_logins_total` counts logins by `event`: ([^.]+)\./.exec(written)?.[1] ?? ''
    const named = sentence.match(/(?<=`)[a-z]+(?=`)/g) ?? []
    const counted = text.matchAll(/^svc_cli_logins_total\{event="([a-z]+)"\}/gm)
    expect([...counted].map(([, event = '']) => event).toSorted()).toEqual(named.toSorted())
  })
})

test('its defaults are those of the settings it names', () => {
  const known = new Map<string, unknown>(Object.values(settings).map((one) => [one.key, one.default]))
  const rows = [...written.matchAll(/\| (\d+) +\| `([a-z_.]+)` +\|$/gm)]
  expect(rows).toHaveLength(5)
  for (const [, value, key = ''] of rows) expect([key, Number(value)]).toEqual([key, known.get(key)])
  const named = written.match(/(?<=`)(?:cli_login|throttles|http)\.[a-z_.]+(?=`)/g) ?? []
  expect(named.filter((name) => !known.has(name))).toEqual([])
})
