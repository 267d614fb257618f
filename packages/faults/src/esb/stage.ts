// What a row about calls of the ESB runs on: engines, replicas behind a balancer, an installation with an endpoint, upstreams
// and callers in processes of their own.
import { type Installation, ask, createInstallation } from '../installation.ts'
import { seedUser } from '@manager/harness/seed.ts'
import { type Base, type BaseSetup, type RowOptions, type Say, openBase } from '../base.ts'
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
  /** Names of replicas that the row ends by itself. */
  harmed: Set<string>
  /** Calls of the usual endpoint, whose log level is BASIC. */
  goodCall(): CallKind
  /** Makes an endpoint that the machine user may call. */
  endpoint(input: Record<string, unknown>): Promise<Endpoint>
  /** What there is of these calls in the end. */
  history(calls: CallRecord[]): Promise<EsbObserved>
}

/** The headers of a call through the gateway; its key is the id of the request. */
export const callHeaders = ({ machineToken }: Installation): Record<string, string> => ({
  authorization: `Bearer ${machineToken}`,
  'content-type': 'application/json',
  'x-request-id': '{key}',
})

/** Makes endpoints of the installation's application, with access for its machine user. */
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

// A replica that never had a call compiles its code and verifies the token first: a row is about what it breaks, not about that.
const warmUp = { perSecond: 50, mostOpen: 32, ms: 8_000 }

/** Starts all of it, and calls a while. */
export const openEsbStage = (setup: BaseSetup, options: RowOptions, say: Say): Promise<EsbStage> =>
  openBase(setup, options, say, async (base) => {
    say('making an installation')
    const upstreams = base.ends(await startUpstreams(base.folder))
    const admin = await seedUser(base.cluster.sql, 'admin', 'administrator')
    const site = await createInstallation(base.replicas[0]?.url ?? '', upstreams, admin.id)
    const balancer = base.ends(await startBalancer(base.folder, base.replicas))
    const caller = base.ends(await startCaller(base.folder))
    const harmed = new Set<string>()
    const goodCall = (): CallKind => ({
      name: 'good',
      url: `${balancer.url}/esb/${site.applicationId}/orders`,
      headers: callHeaders(site),
      body: '{"order":"{key}"}',
    })
    say('warming up')
    const calls = await caller.start({ kinds: [goodCall()], ...warmUp })
    await pause(warmUp.ms)
    const warm = new Set((await calls.stop()).map(({ key }) => key))
    return {
      balancer,
      site,
      upstreams,
      caller,
      harmed,
      goodCall,
      endpoint: await createEndpoints(base, site),
      history: async (calls) => ({
        calls,
        rows: (await readRows(base.cluster.sql)).filter(({ requestId }) => !warm.has(requestId)),
        hits: (await upstreams.hits()).filter((id) => !warm.has(id)),
        ended: base.replicas.filter((one) => !one.isAlive() && !harmed.has(one.name)).map(({ name }) => name),
      }),
    }
  })
