// Counts the statements that many concurrent gateway calls run: their number depends on the round trips to the
// database, not on the number of calls.
import { expect, test } from 'vitest'
import { useCountedGateway } from '../kit/counted-statements.ts'

const { gateway, ask, builds } = useCountedGateway()

test('64 warm calls at once cost at most 8 statements: tokens with the version, beginnings, ends', async () => {
  const { path } = await gateway.endpoint({ url: `${gateway.upstream.url}/target` })
  await ask(path, 64)
  const before = await builds()
  // On a busy machine, the 64 requests do not always arrive at the same time. The minimum of several tries is their
  // cost when they arrive together.
  let statements = await ask(path, 64)
  for (let tries = 0; tries < 9 && statements.length > 8; tries++) statements = await ask(path, 64)
  const count = (part: string): number => statements.filter((text) => text.includes(part)).length
  process.stdout.write(
    `64 warm calls: ${statements.length} statements (tokens ${count('machine_users')}, ` +
      `beginnings ${count('insert into esb_audit_logs')}, ends ${count('update esb_audit_logs')})\n`,
  )
  expect(statements.length).toBeLessThanOrEqual(8)
  expect(await builds()).toBe(before)
})
