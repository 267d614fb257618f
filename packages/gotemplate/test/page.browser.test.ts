// Tests the package in a browser: a page loads the source, without its types, and renders the whole corpus as Go does.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { type Server, createServer } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { caseOf, readCorpus } from './corpus.ts'
import type { Case, Outcome } from './oracle/oracle.ts'

const root = new URL('..', import.meta.url).pathname
// The headless shell needs only a third of the CPU time that the full browser needs.
const programs = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

/** Returns the path of a browser. If none is installed, tries to install one. */
function findChromium(): string {
  const present = programs.find((program) => existsSync(program))
  if (present !== undefined) return present
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) throw new Error('please install Chromium')
  execFileSync('apt-get', ['update', '-qq'], { stdio: 'ignore' })
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], {
    stdio: 'ignore',
  })
  return '/usr/bin/chromium'
}

let server: Server
let browser: Browser
beforeAll(async () => {
  server = createServer((request, response) => {
    const path = `${root}${(request.url ?? '/').slice(1)}`
    const isSource = /^\/(src|test)\/[\w/-]+\.ts$/.test(request.url ?? '') && existsSync(path)
    response.setHeader('content-type', isSource ? 'text/javascript' : 'text/html')
    response.end(
      isSource ? stripTypeScriptTypes(readFileSync(path, 'utf8')) : '<!doctype html><title>page</title>',
    )
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  browser = await chromium.launch({
    executablePath: findChromium(),
    args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update'],
  })
}, 300_000)
afterAll(async () => {
  await browser?.close()
  server.close()
})

test('the corpus comes out in Chromium as in Go', async () => {
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const files = readCorpus()
  const entries = files.flatMap((file) =>
    file.cases.map((entry) => ({ entry, request: caseOf(file, entry) })),
  )
  // The cases are passed as text, because page.evaluate would create objects on which some names are not own
  // properties.
  const requests = JSON.stringify(entries.map(({ request }) => request))
  const outcomes = await page.evaluate(async (text) => {
    const module = '/test/render.ts'
    const { render } = (await import(module)) as { render: (request: Case) => Outcome }
    return (JSON.parse(text) as Case[]).map((request) => {
      const { output, phase } = render(request)
      return { output, phase }
    })
  }, requests)
  const wrong = entries.filter(
    ({ entry }, index) => outcomes[index]?.output !== entry.output || outcomes[index]?.phase !== entry.phase,
  )
  expect(wrong).toEqual([])
  expect(outcomes.length).toBeGreaterThan(3000)
  await page.close()
}, 120_000)
