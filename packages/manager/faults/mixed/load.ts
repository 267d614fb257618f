// All features under load at once. What comes and goes by itself (sockets, triggers) is planned before; everything else is
// called at an even pace through the balancer.
import { readAudit } from '../../drills/look.ts'
import { masterKey } from '../cluster.ts'
import { pause, until } from '../children.ts'
import { createCommsCalls, emitUntilAccepted, keepDoing, planEmit, readInboxes } from '../comms-calls.ts'
import { type Emit, readStored } from '../comms-checkers.ts'
import { type Planned, readRuns } from '../recorder.ts'
import { proxySecret } from '../replicas.ts'
import { planTriggers, yearly } from '../world.ts'
import { createCredentialLoad } from './credentials.ts'
import {
  type AnsweredCall,
  type Login,
  type Uploaded,
  callPartner,
  logIn,
  readVersions,
  uploadVersion,
} from './exchanges.ts'
import { type MixedHistory, readLogged, readNames, readTenants } from './history.ts'
import type { MixedStage } from './stage.ts'
import { createRenamer, createTenant } from './writes.ts'

/** How many of each there are per second. */
export type Rates = {
  creates: number
  renames: number
  uses: number
  endings: number
  strangers: number
  calls: number
  emits: number
  publishes: number
  uploads: number
  logins: number
  firings: number
}
export const usualRates: Rates = {
  creates: 6,
  renames: 6,
  uses: 30,
  endings: 1.5,
  strangers: 3,
  calls: 15,
  emits: 8,
  publishes: 4,
  uploads: 0.5,
  // Each makes a token, whose hash takes a good part of a second of a core.
  logins: 0.2,
  firings: 8,
}
export type MixedLoad = {
  startedAt: number
  /** Resolves when this many milliseconds of the load have passed. */
  at(ms: number): Promise<void>
  /** Ends it after its time; calls may still be open. */
  end(): Promise<void>
  /** To be called when everything is healed: waits until all that is open has ended, and reads what there is. */
  settle(): Promise<MixedHistory>
}

const settleMs = 90_000
// Firings begin a little later, so that their rows are there when they are due.
const firstFiringMs = 2_000

/** Starts it for this long. */
export async function startMixedLoad(stage: MixedStage, seconds: number, rates: Rates): Promise<MixedLoad> {
  const { world, cluster, balancer, client, recorder, random } = stage
  const url = balancer.url
  const caller = { client, recorder, world, url }
  const commsCalls = stage.ends(createCommsCalls(world.comms))
  const [answered, uploaded, logins, emits]: [AnsweredCall[], Uploaded[], Login[], Emit[]] = [[], [], [], []]
  const credentials = createCredentialLoad(caller)
  const renamer = createRenamer(caller)
  const planned: Planned[] = await planTriggers(cluster.sql, world.triggers, {
    count: Math.round(seconds * rates.firings),
    expression: yearly,
    dueAt: Date.now() + firstFiringMs,
    spreadMs: seconds * 1_000 - firstFiringMs,
  })
  const emitOne = async (): Promise<void> => {
    const emit = planEmit(world.comms, random, 2)
    emits.push(emit)
    await emitUntilAccepted(commsCalls, () => url, emit)
    for (const attempt of emit.attempts) recorder.note({ op: 'emit', key: emit.key, ...attempt })
  }
  const publishOne = async (): Promise<void> => {
    const applicationId = world.comms.applicationIds[0] as string
    const key = `live ${Date.now()}`
    await recorder.record('publish', key, async () => {
      return (await commsCalls.publish(() => url, { key, applicationId })).status
    })
  }
  const startedAt = Date.now()
  const paced: [number, () => Promise<void>][] = [
    [rates.creates, () => createTenant(caller)],
    [rates.renames, renamer.rename],
    [rates.uses, credentials.use],
    [rates.endings, credentials.end],
    [rates.strangers, credentials.tryStranger],
    [rates.calls, () => callPartner(caller, answered)],
    [rates.emits, emitOne],
    [rates.publishes, publishOne],
    [rates.uploads, () => uploadVersion(caller, uploaded)],
    [rates.logins, () => logIn(caller, logins)],
  ]
  const ends = paced.map(([rate, act]) => keepDoing(rate, act))
  let open: Promise<unknown> = Promise.resolve()
  const at = (ms: number): Promise<void> => pause(Math.max(0, startedAt + ms - Date.now()))
  return {
    startedAt,
    at,
    end: async () => {
      await at(seconds * 1_000)
      open = Promise.all(ends.map((end) => end()))
      // Who waits for it gets the failure.
      open.catch(() => undefined)
    },
    settle: async () => {
      const since = Date.now()
      stage.say('waiting until everything has ended')
      await open
      const isDrained = await drained(stage, planned.length)
      const back = await socketsBack(stage)
      const drainSeconds = isDrained ? (Date.now() - since) / 1_000 : null
      for (const login of logins) login.isValid = await isTokenValid(stage, login)
      return {
        operations: recorder.operations,
        planned,
        runs: await readRuns(cluster.sql),
        deliveries: await world.sink.deliveries(),
        tenants: await readTenants(cluster.sql, world.site.projectId),
        renames: renamer.renames,
        names: await readNames(cluster.sql, world.registers),
        uses: credentials.uses,
        endings: credentials.endings,
        strangers: credentials.strangers,
        answered,
        logged: await readLogged(cluster.sql),
        forwarded: world.partner.orders(),
        uploaded,
        served: await readVersions(caller, uploaded),
        logins,
        comms: {
          emits,
          stored: await readStored(cluster.sql),
          inboxes: await readInboxes(commsCalls, () => url, world.comms),
        },
        sockets: { opened: stage.opened, back },
        broken: (await readAudit({ SVC_DATABASE_URL: cluster.adminUrl, SVC_MASTER_KEY: masterKey })).problems,
        withoutRetryAfter: client.withoutRetryAfter,
        ended: stage.replicas
          .filter((one) => !one.isAlive() && !stage.harmed.has(one.name))
          .map(({ name }) => name),
        drainSeconds,
      }
    },
  }
}

/** Whether every run is finished in time. */
async function drained({ cluster }: MixedStage, runs: number): Promise<boolean> {
  try {
    await until('the end of all runs', settleMs, async () => {
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

/** How many sockets are connected in the end; they come back by themselves. */
async function socketsBack({ sockets, opened }: MixedStage): Promise<number> {
  await until('the sockets', settleMs, async () => (await sockets.greeted()) === opened).catch(
    () => undefined,
  )
  return sockets.greeted()
}

/** Whether the token that a login got works; null when it got none. */
async function isTokenValid({ client }: MixedStage, { tokens }: Login): Promise<boolean | null> {
  const [token] = tokens
  if (token === undefined) return null
  const { text } = await client.send('/query', {
    headers: { authorization: `Bearer ${token}`, 'x-proxy-auth': proxySecret },
    body: { query: '{ me { id } }' },
  })
  return text.startsWith('{"data":{"me"')
}
