// Runs the pages on frontend configuration against a real service, in reading order.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, startTestApp } from './kit/app.ts'
import { headersOf, proxySecret } from '@manager/harness/callers.ts'
import { rawCall } from './kit/http.ts'
import {
  type Ask,
  blocksOf,
  expectMistakesToShow,
  parseBody,
  parseHttp,
  readPage,
  runSteps,
  stepsOf,
} from './kit/doc-page-runner.ts'
import { seedUser } from '@manager/harness/seed.ts'

/** The tutorial and the pages that continue it. */
const page = [
  'start/configure-a-frontend.md',
  'guides/frontends/load-configuration.md',
  'guides/maintainers/change-settings.md',
  'guides/maintainers/translate-a-text.md',
  'reference/frontend-configuration.md',
]
  .map(readPage)
  .join('\n')
// packages/cli/test/docs.nightly.test.ts runs the commands.
const others = ['sh']
const known = { 'proxy secret': proxySecret }

let service: TestApp
let askService: Ask
beforeAll(async () => {
  service = await startTestApp()
  const identity = Object.entries(headersOf(await seedUser(service.sql, 'maintainer', 'administrator')))
  askService = async (language, request) => {
    const { first, headers } = parseHttp(request)
    const {
      status,
      headers: came,
      body,
    } = await rawCall(
      service.url,
      language === 'http'
        ? { method: first[0] ?? '', path: first[1] ?? '', headers }
        : {
            method: 'POST',
            path: '/query',
            headers: [['content-type', 'application/json'], ...identity],
            body: JSON.stringify({ query: request }),
          },
    )
    return { status, headers: came, body: parseBody(body) }
  }
})
afterAll(() => service.close())

test('the page on frontend configuration is right in every answer, and a mistake in any of them shows', async () => {
  const steps = stepsOf(page, others)
  const answers = await runSteps(steps, askService, known)
  const notPlayed = blocksOf(page).filter(({ language }) => others.includes(language))
  expect([answers.length * 2 + notPlayed.length, notPlayed.length]).toEqual([blocksOf(page).length, 3])
  await expectMistakesToShow(steps, answers, known)
})

test.each([
  ['an answer without its request', /```graphql[^`]*```\n\n(?=```json)/],
  ['a request without its answer', /(?<=```\n\n)```json[^`]*```\n/],
  ['a block of another kind', /(?<=```)http/],
])('a page with %s is refused', (_, part) => {
  const broken = page.replace(part, '')
  expect(broken).not.toBe(page)
  expect(() => stepsOf(broken, others)).toThrow('expected a request and its response')
})
