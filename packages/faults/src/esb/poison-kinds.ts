// Requests with malicious templates, bodies, documents and schedules, which try to block a replica.
import { personHeaders } from '../installation.ts'
import { hostileTexts } from '@manager/harness/hostile-texts.ts'
import { poisons } from '@manager/harness/poisons.ts'
import type { CallKind } from './caller.ts'
import { type EsbStage, callHeaders } from './stage.ts'

export type PoisonKind = {
  call: CallKind
  /** Allowed response statuses in addition to 503. */
  statuses: readonly number[]
}

const mebibyte = 1_048_576
const refused = [200, 400, 413, 422]

const documents: Record<string, object> = {
  '10,000 aliases': {
    query: `{ ${Array.from({ length: 10_000 }, (_, index) => `a${index}: me { id }`).join(' ')} }`,
  },
  'selections in selections': { query: `${'{ me '.repeat(2_000)}${'}'.repeat(2_000)}` },
  'fragments that spread each other': {
    query: `{ ...f0 } ${Array.from({ length: 200 }, (_, index) => `fragment f${index} on Query { ...f${(index + 1) % 200} ...f${(index + 2) % 200} }`).join(' ')}`,
  },
  'a document with 10 MiB of JSON': {
    query: '{ me { id } }',
    variables: { text: 'x'.repeat(10 * mebibyte) },
  },
}

const schedules = [
  '* * * * * *',
  '*/0 * * * *',
  '99999999999999999999 * * * *',
  '0-59/0 0 31 2 *',
  '0 0 30 2 *',
  `${'0,'.repeat(20_000)}0 * * * *`,
  '*/1-'.repeat(10_000),
  `${'1-5/2,'.repeat(5_000)}1 1-31/1 * * *`,
  '@'.repeat(60_000),
  `* * * * ${'\u0300'.repeat(30_000)}`,
]

/** GraphQL documents that are rejected or return errors. */
const documentKinds = (url: string, personId: string): PoisonKind[] =>
  [
    ...Object.entries(documents),
    ...Object.entries(hostileTexts),
    ...schedules.flatMap((cron): [string, object][] => [
      [
        `next runs of ${cron.slice(0, 12)}`,
        { query: 'query($c: String!) { nextRuns(cronExpression: $c) }', variables: { c: cron } },
      ],
    ]),
  ].map(([name, body]) => ({
    call: { name, url: `${url}/query`, headers: personHeaders(personId), body: JSON.stringify(body) },
    statuses: refused,
  }))

/** Returns all poisonous requests. Large and small requests are mixed. */
export async function createPoisons(stage: EsbStage): Promise<PoisonKind[]> {
  const kinds: PoisonKind[] = documentKinds(stage.balancer.url, stage.site.memberId)
  for (const { name, endpoint, body, statuses } of poisons) {
    const { path } = await stage.endpoint({ url: stage.upstreams.url, ...endpoint })
    kinds.push({
      call: { name, url: stage.balancer.url + path, headers: callHeaders(stage.site), body },
      // The good upstream rejects calls without its secret.
      statuses: statuses.includes(200) ? [...statuses, 401] : statuses,
    })
  }
  const step = 7
  return kinds.map((_, index) => kinds[(index * step) % kinds.length] as PoisonKind)
}
