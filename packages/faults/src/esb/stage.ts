// Sets up an ESB scenario: PostgreSQL, Redis, replicas behind a load balancer, and an installation with an
// endpoint. Upstreams and callers run in separate processes.
import { type Installation, ask, createInstallation } from '../installation.ts'
import { seedUser } from '@manager/harness/seed.ts'
import { type Base, type BaseSetup, type RowOptions, type Log, openBase } from '../base.ts'
import { pause } from '../children.ts'
import { type Balancer, startBalancer } from '../haproxy.ts'
import { type CallKind, type CallRecord, type Caller, startCaller } from './caller.ts'
import { type EsbObserved, readRows } from './checkers.ts'
import { type Upstreams, startUpstreams } from './upstream.ts'

type Endpoint = { id: string; path: string }
export type EsbStage = Base & {
  balancer: Balancer
  site: Installation
  upstreams: Upstreams
  caller: Caller
  /** Names of replicas that the scenario stops on purpose. */
  expectedExits: Set<string>
  /** Returns the kind of call that uses the default endpoint, whose log level is BASIC. */
  goodCall(): CallKind
  /** Creates an endpoint that the machine user may call. */
  endpoint(input: Record<string, unknown>): Promise<Endpoint>
  /** Reads the log rows and upstream hits of these calls. */
  history(calls: CallRecord[]): Promise<EsbObserved>
}

/** The headers of a call through the gateway. The request id is the key of the call. */
export const callHeaders = ({ machineToken }: Installation): Record<string, string> => ({
  authorization: `Bearer ${machineToken}`,
  'content-type': 'application/json',
  'x-request-id': '{key}',
})

/** Returns a function that creates endpoints of the application and grants the machine user access. */
async function createEndpoints(base: Base, site: Installation): Promise<EsbStage['endpoint']> {
  const { rows } = await base.cluster.sql.query<{ id: string }>(
    'select id from machine_users where project_id = $1',
    [site.projectId],
  )
  const url = base.replicas[0]?.url ?? ''
  let count = 0
  return async (input) => {
    const consumeURL = `/e${++count}`
    const { made } = await ask<{ made: { id: string } }>(
      url,
      site.adminId,
      'mutation($a: ID!, $i: CreateEndpointInput!) { made: createEndpoint(applicationId: $a, input: $i) { id } }',
      { a: site.applicationId, i: { name: `endpoint ${count}`, consumeURL, ...input } },
    )
    await ask(
      url,
      site.adminId,
      'mutation($m: ID!, $e: ID!) { createMachineUser2Endpoint(input: { machineUserID: $m, endpointID: $e }) { id } }',
      { m: rows[0]?.id, e: made.id },
    )
    return { id: made.id, path: `/esb/${site.applicationId}${consumeURL}` }
  }
}

// On its first calls, a replica compiles code and verifies the token. The warm-up keeps this work out of the
// measurement.
const warmUp = { perSecond: 50, maxOpen: 32, ms: 8_000 }

/** Starts everything and warms up the replicas with calls. */
export const openEsbStage = (setup: BaseSetup, options: RowOptions, log: Log): Promise<EsbStage> =>
  openBase(setup, options, log, async (base) => {
    log('creating an installation')
    const upstreams = base.registerPart(await startUpstreams(base.folder))
    const admin = await seedUser(base.cluster.sql, 'admin', 'administrator')
    const site = await createInstallation(base.replicas[0]?.url ?? '', upstreams, admin.id)
    const balancer = base.registerPart(await startBalancer(base.folder, base.replicas))
    const caller = base.registerPart(await startCaller(base.folder))
    const expectedExits = new Set<string>()
    const goodCall = (): CallKind => ({
      name: 'good',
      url: `${balancer.url}/esb/${site.applicationId}/orders`,
      headers: callHeaders(site),
      body: '{"order":"{key}"}',
    })
    log('warming up')
    const calls = await caller.start({ kinds: [goodCall()], ...warmUp })
    await pause(warmUp.ms)
    const warm = new Set((await calls.stop()).map(({ key }) => key))
    return {
      balancer,
      site,
      upstreams,
      caller,
      expectedExits,
      goodCall,
      endpoint: await createEndpoints(base, site),
      history: async (calls) => ({
        calls,
        rows: (await readRows(base.cluster.sql)).filter(({ requestId }) => !warm.has(requestId)),
        hits: (await upstreams.hits()).filter((id) => !warm.has(id)),
        ended: base.replicas
          .filter((one) => !one.isAlive() && !expectedExits.has(one.name))
          .map(({ name }) => name),
      }),
    }
  })
