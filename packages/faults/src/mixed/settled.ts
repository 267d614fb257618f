// Reads the final state after a mixed load has stopped and every fault is healed.
import { readAudit } from '../audit-verified.ts'
import { until } from '../children.ts'
import { masterKey, proxySecret } from '@manager/harness/callers.ts'
import { readInboxes } from '../comms-calls.ts'
import { readStored } from '../comms-checkers.ts'
import { type Planned, readRuns } from '../recorder.ts'
import { type Login, readVersions } from './exchanges.ts'
import { type MixedHistory, readLogged, readNames, readTenants } from './history.ts'
import type { Callers } from './callers.ts'
import type { MixedScene } from './scene.ts'

const settleMs = 90_000

/** Waits until every run is finished and every socket has reconnected, then reads the history. */
export async function readHistory(
  stage: MixedScene,
  { caller, commsCalls, credentials, renames, results }: Callers,
  { planned, since }: { planned: Planned[]; since: number },
): Promise<MixedHistory> {
  const { world, client, recorder, replicas, expectedExits, balancer } = stage
  const { sql, adminUrl } = stage.cluster
  const { answered, uploaded, logins, emits } = results
  const isDrained = await areRunsFinished(stage, planned.length)
  const back = await countConnectedSockets(stage)
  const drainSeconds = isDrained ? (Date.now() - since) / 1_000 : null
  for (const login of logins) login.isValid = await isTokenValid(stage, login)
  const audit = await readAudit({ SVC_DATABASE_URL: adminUrl, SVC_MASTER_KEY: masterKey })
  return {
    operations: recorder.operations,
    planned,
    runs: await readRuns(sql),
    deliveries: await world.sink.deliveries(),
    tenants: await readTenants(sql, world.site.projectId),
    renames,
    names: await readNames(sql, world.registers),
    uses: credentials.uses,
    invalidations: credentials.invalidations,
    strangers: credentials.strangers,
    answered,
    logged: await readLogged(sql),
    forwarded: world.partner.orders(),
    uploaded,
    served: await readVersions(caller, uploaded),
    logins,
    comms: {
      emits,
      stored: await readStored(sql),
      inboxes: await readInboxes(commsCalls, () => balancer.url, world.comms),
    },
    sockets: { opened: stage.opened, back },
    broken: audit.problems,
    withoutRetryAfter: client.withoutRetryAfter,
    ended: replicas.filter((one) => !one.isAlive() && !expectedExits.has(one.name)).map(({ name }) => name),
    drainSeconds,
  }
}

/** Returns whether every run finished in time. */
async function areRunsFinished({ cluster }: MixedScene, runs: number): Promise<boolean> {
  try {
    await until('all runs to finish', settleMs, async () => {
      const { rows } = await cluster.sql.query<{ total: number; open: number }>(
        "select count(*)::int as total, (count(*) filter (where outcome = 'pending'))::int as open from trigger_runs",
      )
      return rows[0] !== undefined && rows[0].total >= runs && rows[0].open === 0
    })
    return true
  } catch {
    return false
  }
}

/** Returns the number of connected sockets. Disconnected sockets reconnect automatically. */
async function countConnectedSockets({ sockets, opened }: MixedScene): Promise<number> {
  await until('the sockets to reconnect', settleMs, async () => (await sockets.greeted()) === opened).catch(
    () => undefined,
  )
  return sockets.greeted()
}

/** Returns whether the token of a login works, or null if the login has none. */
async function isTokenValid({ client }: MixedScene, { tokens }: Login): Promise<boolean | null> {
  const [token] = tokens
  if (token === undefined) return null
  const { text } = await client.send('/query', {
    headers: { authorization: `Bearer ${token}`, 'x-proxy-auth': proxySecret },
    body: { query: '{ me { id } }' },
  })
  return text.startsWith('{"data":{"me"')
}
