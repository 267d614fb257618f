// This test kills the service (SIGKILL) while terminals fetch their tokens. Afterwards, every token was
// received by its terminal or is revoked. No token is both lost and valid.
import { randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Terminal, decide, openTerminal } from '@manager/harness/cli-login.ts'
import { type TestDatabase, createScratchDatabase } from '../../../test/kit/databases.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'

// One of the four kills happens during approvals, and one in each third of the fetch phase.
const kills = loadSize(4, 8)
const terminals = loadSize(8, 16)

let database: TestDatabase
let sql: Pool
beforeAll(async () => {
  database = await createScratchDatabase()
  sql = new Pool({ connectionString: database.url, max: 2 })
})
afterAll(async () => {
  await sql?.end()
  await database?.drop()
})

const raised = {
  SVC_CLI_LOGIN_POLLS_PER_CLIENT: '100000',
  SVC_CLI_LOGIN_POLLS_PER_LOGIN: '100000',
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
/** Prefixes of the tokens that terminals received. The token rows store the same prefixes. */
const held = new Set<string>()
/** Logins that have been approved. */
const approved = new Set<string>()
let unanswered = 0

type Waiting = { terminal: Terminal; sessionId: string }

/** Starts and approves a login. Returns null if the service was killed first. */
async function approve(service: ServiceProcess): Promise<Waiting | null> {
  try {
    const terminal = await openTerminal(service)
    const { session_id: sessionId, user_code } = await terminal.login()
    const { status } = await decide(service, { id: randomUUID(), name: 'Anna' }, user_code, 'approve')
    if (status !== 200) throw new Error(`the approval is answered ${status}`)
    approved.add(sessionId)
    return { terminal, sessionId }
  } catch (error) {
    if (service.child.killed) return null
    throw error
  }
}

/** Fetches the token. The service can be killed at any time. */
async function fetchToken({ terminal, sessionId }: Waiting): Promise<void> {
  const answer = await terminal.poll(sessionId).catch(() => null)
  if (answer === null) unanswered++
  else held.add(/^pat_(\w{8})_/.exec(terminal.open(answer.body['sealed_token']))?.[1] as string)
}

/** Kills the service while terminals fetch their tokens, or earlier, while people approve logins. */
async function playRound(kill: number): Promise<void> {
  const service = await startProcess(database.url, raised)
  const already = approved.size
  const approving = Array.from({ length: terminals }, () => approve(service))
  if (kill % 4 === 3) {
    const some = already + Math.floor(terminals * Math.random())
    while (approved.size < some) await pause(1)
    await pause(4 * Math.random())
  } else {
    const waiting = await Promise.all(approving)
    const before = held.size
    const fetching = Promise.all(waiting.map((one) => fetchToken(one as Waiting)))
    const some = before + Math.floor((terminals * ((kill % 4) + Math.random())) / 3)
    while (held.size < some) await pause(1)
    await pause(4 * Math.random())
    service.child.kill('SIGKILL')
    await fetching
  }
  service.child.kill('SIGKILL')
  await service.exit
  await Promise.all(approving)
}

test('a token is delivered or revoked, however the service ends', { timeout: 600_000 }, async () => {
  for (let kill = 0; kill < kills; kill++) await playRound(kill)
  const { rows: left } = await sql.query('select status, count(*)::int from cli_logins group by 1 order by 1')
  // Simulates elapsed time: the logins have expired, and deliveries in flight are a minute old.
  await sql.query(`update cli_logins set expires_at = now(), fetched_at = fetched_at - interval '2 minutes'`)
  const last = await startProcess(database.url, raised)
  const isOpen = async (): Promise<boolean> =>
    (await sql.query(`select 1 from cli_logins where status in ('approved', 'fetched')`)).rows.length > 0
  await expect.poll(isOpen, { timeout: 60_000, interval: 500 }).toBe(false)
  last.child.kill()
  await last.exit

  const { rows } = await sql.query('select token_prefix as prefix, revoked from personal_access_tokens')
  const tokens = rows as { prefix: string; revoked: boolean }[]
  const lost = tokens.filter(({ prefix, revoked }) => !revoked && !held.has(prefix))
  const countOf = (isCounted: (token: (typeof tokens)[number]) => boolean): number =>
    tokens.filter(isCounted).length
  process.stdout.write(
    `kills=${kills} tokens=${tokens.length} delivered=${held.size} unanswered=${unanswered} ` +
      `revoked=${countOf(({ revoked }) => revoked)} lost_and_valid=${lost.length} ` +
      `delivered_and_revoked=${countOf(({ prefix, revoked }) => revoked && held.has(prefix))} ` +
      `after the kills: ${JSON.stringify(left)}\n`,
  )
  expect(lost).toEqual([])
  // Without an approved login, the kill would not have interrupted anything.
  expect(unanswered).toBeGreaterThan(0)
  expect(countOf(({ revoked }) => revoked)).toBeGreaterThan(0)
})
