// What is seen of a restored installation.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { appendFileSync, readFileSync } from 'node:fs'
import { proxySecret } from '@manager/harness/callers.ts'
import { until } from '../children.ts'
import { planTriggers, yearly } from '../world.ts'
import { runManagerProcess } from '@manager/harness/process.ts'
import { piletPath } from '@manager/harness/pilets.ts'
import { ask, personHeaders } from '../installation.ts'
import type { Acknowledged } from './load.ts'
import { type AuditSeen, readAudit } from '../audit-verified.ts'
import { findMissing } from './missing.ts'
import type { Kept, Restored } from './kept.ts'
import type { Stage } from './stage.ts'

type Scene = Restored & { stage: Stage; kept: Kept }
/** What was found; each list names what is not as it was. */
export type Looked = {
  missing: Acknowledged[]
  rows: number
  audit: AuditSeen
  checkpoints: number
  checkpointsLost: number
  /** What the whole log shows of the loss. */
  lossSeen: number
  keysMissing: string[]
  secretsClosed: string[]
  tokensRefused: string[]
  pilets: number
  piletsBroken: string[]
  brokenSince: string[]
  /** Triggers that were due after the restore and whose backends were not called. */
  unfired: string[]
  fireSeconds: number
}

/** Looks at everything, and lets the installation go on working. */
export async function lookAtRestored(scene: Scene): Promise<Looked> {
  const { say } = scene.stage
  say('firing triggers')
  const fired = await lookAtFirings(scene)
  say('looking for everything that was acknowledged')
  const missing = await findMissing(scene.engines.sql, scene.kept.load.acknowledged)
  const rows = await countRows(scene.engines.sql)
  say('verifying the audit trail and its checkpoints')
  const trail = await lookAtTrail(scene)
  say('opening secrets')
  const secrets = await lookAtSecrets(scene)
  say('verifying pilets')
  const pilets = await lookAtPilets(scene)
  say('working on')
  const brokenSince = await lookAtGoingOn(scene)
  return { ...fired, missing, rows, ...trail, ...secrets, ...pilets, brokenSince }
}

const firings = 8
const fireMs = 30_000

/** The backends that were registered before are called when triggers are due again. */
async function lookAtFirings({ engines, kept }: Scene): Promise<Pick<Looked, 'unfired' | 'fireSeconds'>> {
  const start = Date.now()
  const plan = { count: firings, expression: yearly, dueAt: start }
  const planned = await planTriggers(engines.sql, kept.world, plan)
  const unfired = async (): Promise<string[]> => {
    const deliveries = await kept.sink.deliveries()
    const called = new Set(deliveries.filter(({ status }) => status === 200).map((one) => one.triggerId))
    return planned.map(({ triggerId }) => triggerId).filter((id) => !called.has(id))
  }
  await until('the first firings', fireMs, async () => (await unfired()).length === 0).catch(() => undefined)
  return { unfired: await unfired(), fireSeconds: (Date.now() - start) / 1_000 }
}

async function countRows(sql: Restored['engines']['sql']): Promise<number> {
  const { rows: tables } = await sql.query<{ name: string }>(
    `select format('%I.%I', schemaname, relname) as name from pg_stat_user_tables`,
  )
  let total = 0
  for (const { name } of tables) {
    const { rows } = await sql.query<{ count: string }>(`select count(*) as count from only ${name}`)
    total += Number(rows[0]?.count ?? 0)
  }
  return total
}

type Trail = Pick<Looked, 'audit' | 'checkpoints' | 'checkpointsLost' | 'lossSeen'>

/** The trail is whole, and has every checkpoint of the log up to the backup; the whole log shows what is lost. */
async function lookAtTrail({ env, kept }: Scene): Promise<Trail> {
  const checkpoints = countCheckpoints(kept.logUntilBackup)
  return {
    audit: await readAudit(env, kept.logUntilBackup),
    checkpoints,
    checkpointsLost: countCheckpoints(kept.logOfAll) - checkpoints,
    lossSeen: (await readAudit(env, kept.logOfAll)).problems.length,
  }
}

const countCheckpoints = (file: string): number =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '').length

type Secrets = Pick<Looked, 'keysMissing' | 'secretsClosed' | 'tokensRefused'>

/** Every sealed secret has its key, and the endpoint's is accepted by the partner. */
async function lookAtSecrets({ env, kept: { site }, replica, stage }: Scene): Promise<Secrets> {
  const { code, stdout } = await runManagerProcess(['keys', 'status'], env)
  const before = stage.partner.accepted()
  const response = await fetch(`${replica.url}/esb/${site.applicationId}/orders`, {
    method: 'POST',
    headers: { authorization: `Bearer ${site.machineToken}`, 'content-type': 'application/json' },
    body: '{"order":2}',
  })
  const text = await response.text()
  const isOpen = response.status === 200 && stage.partner.accepted() === before + 1
  const validated = await fetch(`${replica.url}/api/validate-proxy-auth`, {
    method: 'POST',
    headers: { 'x-proxy-auth': proxySecret, 'content-type': 'application/json' },
    body: JSON.stringify({
      authorization_header: `Bearer ${site.personalToken}`,
      application_id: site.applicationId,
    }),
  })
  const { valid } = (await validated.json()) as { valid?: boolean }
  return {
    keysMissing: code === 0 ? [] : [stdout.trim()],
    secretsClosed: isOpen ? [] : [`the call is answered ${response.status} ${text}`],
    tokensRefused: valid === true ? [] : [`the token is answered ${validated.status}`],
  }
}

type Pilet = { version: string; hash: string; signature: Buffer; key_id: string }

/** Every pilet is downloaded; its bytes have their hash, and the signature is of a key that was exported before. */
async function lookAtPilets({
  engines,
  replica,
  kept,
}: Scene): Promise<Pick<Looked, 'pilets' | 'piletsBroken'>> {
  const { rows } = await engines.sql.query<Pilet>(
    'select version, hash, signature, key_id from pilet_packages order by created_at',
  )
  const broken: string[] = []
  for (const pilet of rows) {
    const path = piletPath({ projectId: kept.site.projectId, name: '@drill/store', version: pilet.version })
    const response = await fetch(replica.url + path, { headers: personHeaders(kept.site.adminId) })
    const bytes = Buffer.from(await response.arrayBuffer())
    if (!isWhole(pilet, bytes, kept.piletKeys)) broken.push(`${pilet.version} (${response.status})`)
  }
  return { pilets: rows.length, piletsBroken: broken }
}

function isWhole({ hash, signature, key_id }: Pilet, bytes: Buffer, keys: Kept['piletKeys']): boolean {
  const raw = Buffer.from(keys[key_id] ?? '', 'base64')
  if (raw.length !== 32 || createHash('sha256').update(bytes).digest('hex') !== hash) return false
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }
  return verify(null, bytes, createPublicKey({ key: jwk, format: 'jwk' }), signature)
}

/** A change is accepted and sealed by a checkpoint; old and new checkpoints together fit the trail. */
async function lookAtGoingOn({ env, replica, kept }: Scene): Promise<string[]> {
  const { adminId, tenantId } = kept.site
  const rename = 'mutation($id: ID!) { updateTenant(id: $id, input: { name: "Acme again" }) { id } }'
  const checkpoints = (): string[] =>
    readFileSync(replica.logFile, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"checkpoint"'))
  try {
    const had = checkpoints().length
    await ask(replica.url, adminId, rename, { id: tenantId })
    await until('a checkpoint', 30_000, () => Promise.resolve(checkpoints().length > had))
    appendFileSync(kept.logUntilBackup, `${checkpoints().join('\n')}\n`)
    return (await readAudit(env, kept.logUntilBackup)).problems
  } catch (error) {
    return [(error as Error).message]
  }
}
