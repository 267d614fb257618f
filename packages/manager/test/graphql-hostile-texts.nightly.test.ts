// Measures the time to reject hostile input.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from './kit/app.ts'
import { hostileTexts } from '@manager/harness/hostile-texts.ts'
import { seedUser } from '@manager/harness/seed.ts'

let service: TestApp
let admin: Person
beforeAll(async () => {
  service = await startTestApp()
  admin = await seedUser(service.sql, 'admin', 'administrator')
})
afterAll(() => service.close())

async function post(body: object) {
  const start = performance.now()
  const response = await fetch(`${service.url}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headersOf(admin) },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, text, ms: performance.now() - start }
}

describe('hostile texts', () => {
  test.each(Object.keys(hostileTexts))('%s is refused at once', async (name) => {
    // Use the best of three runs, because the machine is shared.
    const answers = []
    for (let round = 0; round < 3; round++) answers.push(await post(hostileTexts[name] as object))
    const [answer] = answers
    expect(answer?.status).toBe(400)
    const best = Math.min(...answers.map(({ ms }) => ms))
    process.stdout.write(
      `graphql-text ${name}: best ${best.toFixed(1)} ms, ${answer?.text.length} characters\n`,
    )
    expect(best).toBeLessThan(2_000)
  })
})
