// F26: a terminal, or somebody who has stolen its session, polls as often at once as they like, at every replica. One poll gets
// the token.
import { randomUUID } from 'node:crypto'
import { type Base, openBase } from '../base.ts'
import { pause, until } from '../children.ts'
import { inParallel } from '../pace.ts'
import { type Row, playedOn } from '../row.ts'
import { bySize } from '../schedule.ts'
import { createVerdict, lagsAt } from '../verdict.ts'
import { type Terminal, decide, openTerminal } from '@manager/harness/cli-login.ts'
import { changeOne, mutant } from '../plant.ts'

/** What the polls of one login were answered. */
type Polled = { code: string; tokens: string[]; expired: number; again: number; other: string[]; ms: number }
type Observed = {
  sessions: number
  pollsEach: number
  polled: Polled[]
  /** How many logins the database says are in each state, and how many of their tokens are revoked. */
  states: Record<string, number>
  revoked: number
}

const pollsEach = 100
const approvalsAtOnce = 4
const settleMs = 30_000

type Waiting = { terminal: Terminal; sessionId: string; code: string }

/** A login that somebody has approved; every step at another replica. */
async function approve({ replicas }: Base, index: number): Promise<Waiting> {
  const at = (step: number): { url: string } => ({
    url: replicas[(index + step) % replicas.length]?.url ?? '',
  })
  const terminal = await openTerminal(at(0))
  const { session_id: sessionId, user_code: code } = await terminal.login({ token_name: `terminal ${index}` })
  const { status } = await decide(at(1), { id: randomUUID(), name: `person ${index}` }, code, 'approve')
  if (status !== 200) throw new Error(`the approval of ${code} is answered ${status}`)
  return { terminal, sessionId, code }
}

async function pollAtOnce({ replicas }: Base, { terminal, sessionId, code }: Waiting): Promise<Polled> {
  const start = performance.now()
  const answers = await Promise.all(
    Array.from({ length: pollsEach }, (_, index) =>
      terminal.poll(sessionId, {}, replicas[index % replicas.length]?.url),
    ),
  )
  const polled: Polled = { code, tokens: [], expired: 0, again: 0, other: [], ms: performance.now() - start }
  for (const { status, body } of answers)
    if ('sealed_token' in body) polled.tokens.push(terminal.open(body['sealed_token']))
    else if (status === 200 && body['status'] === 'expired') polled.expired++
    // It met the one that gets the token.
    else if (status === 200 && body['status'] === 'authorization_pending') polled.again++
    else polled.other.push(`${status} ${JSON.stringify(body)}`)
  return polled
}

async function observe(stage: Base): Promise<Observed> {
  const { cluster, options, say } = stage
  const sessions = options.sessions ?? bySize(options, 200, 20)
  say(`approving ${sessions} logins`)
  const indexes = [...Array(sessions).keys()]
  const waiting = await inParallel(indexes, approvalsAtOnce, (index) => approve(stage, index))
  say(`polling each ${pollsEach} times at once`)
  const polled: Polled[] = []
  for (const one of waiting) polled.push(await pollAtOnce(stage, one))
  const statesNow = async (): Promise<Record<string, number>> => {
    const { rows } = await cluster.sql.query('select status, count(*)::int from cli_logins group by 1')
    return Object.fromEntries(
      (rows as { status: string; count: number }[]).map(({ status, count }) => [status, count]),
    )
  }
  await until(
    'the end of all logins',
    settleMs,
    async () => (await statesNow())['fetched'] === undefined,
  ).catch(() => say('not all of them are settled'))
  await pause(100)
  const { rows } = await cluster.sql.query(
    'select count(*)::int as count from personal_access_tokens where revoked',
  )
  return {
    sessions,
    pollsEach,
    polled,
    states: await statesNow(),
    revoked: (rows[0] as { count: number }).count,
  }
}

function judge({ sessions, polled, states, revoked }: Observed) {
  const figures = createVerdict()
  figures.atLeast('sessions', polled.length, sessions)
  const tokens = polled.flatMap((one) => one.tokens)
  figures.none(
    'without_winner',
    polled.filter((one) => one.tokens.length === 0).map(({ code }) => code),
  )
  figures.none(
    'several_winners',
    polled.filter((one) => one.tokens.length > 1).map(({ code }) => code),
  )
  figures.atLeast('winners', new Set(tokens).size, sessions)
  figures.none(
    'answered_otherwise',
    polled.flatMap(({ other }) => other),
  )
  figures.atLeast('consumed', states['consumed'] ?? 0, sessions)
  figures.atMost('revoked', revoked, 0)
  figures.show('polls', polled.length * pollsEach)
  figures.show(
    'told_to_come_again',
    polled.reduce((sum, { again }) => sum + again, 0),
  )
  figures.show('polls_of_one_ms', lagsAt(polled.map(({ ms }) => ms).sort((a, b) => a - b)))
  return figures.verdict
}

const withFirst = (observed: Observed, change: (first: Polled) => Polled): Observed => ({
  ...observed,
  polled: changeOne(observed.polled, change),
})

export const f26: Row = playedOn<Observed, Base, { replicas: number; env: Record<string, string> }>(
  (setup, options, say) => openBase(setup, options, say, async () => ({})),
  {
    id: 'F26',
    title: '100 polls at once of each of 200 approved logins from terminals, at three replicas',
    setup: () => ({
      replicas: 3,
      env: {
        SVC_LOG_LEVEL: 'warn',
        // Their limits are not the subject; they would refuse most of the polls.
        SVC_CLI_LOGIN_POLLS_PER_CLIENT: '1000000',
        SVC_CLI_LOGIN_POLLS_PER_LOGIN: '1000000',
      },
    }),
    limitSeconds: 600,
    observe,
    judge,
    mutants: [
      mutant('two polls get the token', 'several_winners', (observed) =>
        withFirst(observed, (one) => ({ ...one, tokens: [...one.tokens, ...one.tokens] })),
      ),
      mutant('nobody gets the token', 'without_winner', (observed) =>
        withFirst(observed, (one) => ({ ...one, tokens: [] })),
      ),
      mutant('two logins get the same token', 'winners', (observed) =>
        withFirst(observed, (one) => ({ ...one, tokens: observed.polled[1]?.tokens ?? one.tokens })),
      ),
      mutant('a poll fails', 'answered_otherwise', (observed) =>
        withFirst(observed, (one) => ({ ...one, other: ['500 {}'] })),
      ),
      mutant('a delivery is not noted', 'consumed', (observed) => ({
        states: { ...observed.states, consumed: (observed.states['consumed'] ?? 0) - 1 },
      })),
      mutant('a token that was delivered is revoked', 'revoked', () => ({ revoked: 1 })),
    ],
  },
)
