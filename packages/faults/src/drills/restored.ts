// Inspects a restored installation.
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
import type { Survivors, Restored } from './survivors.ts'
import type { Stage } from './stage.ts'

type Scene = Restored & { stage: Stage; survivors: Survivors }
/** The findings. Each list names the objects that differ from the original. */
export type Inspection = {
  missing: Acknowledged[]
  rows: number
  audit: AuditSeen
  checkpoints: number
  checkpointsLost: number
  /** The number of losses that the complete log reveals. */
  lossSeen: number
  keysMissing: string[]
  secretsUnreadable: string[]
  tokensRefused: string[]
  pilets: number
  piletsBroken: string[]
  brokenAfterRestore: string[]
  /** Triggers that were due after the restore but did not call their backends. */
  unfired: string[]
  fireSeconds: number
}

/** Inspects all data, then checks that the installation still works. */
export async function inspectRestored(scene: Scene): Promise<Inspection> {
  const { log } = scene.stage
  log('firing triggers')
  const fired = await inspectFirings(scene)
  log('checking acknowledged data')
  const missing = await findMissing(scene.engines.sql, scene.survivors.load.acknowledged)
  const rows = await countRows(scene.engines.sql)
  log('verifying the audit trail and its checkpoints')
  const trail = await inspectTrail(scene)
  log('decrypting secrets')
  const secrets = await inspectSecrets(scene)
  log('verifying pilets')
  const pilets = await inspectPilets(scene)
  log('checking that the installation continues to work')
  const brokenAfterRestore = await inspectNewChanges(scene)
  return { ...fired, missing, rows, ...trail, ...secrets, ...pilets, brokenAfterRestore }
}

const firings = 8
const fireMs = 30_000

/** Checks that due triggers call the backends that were registered before the restore. */
async function inspectFirings({
  engines,
  survivors,
}: Scene): Promise<Pick<Inspection, 'unfired' | 'fireSeconds'>> {
  const start = Date.now()
  const plan = { count: firings, expression: yearly, dueAt: start }
  const planned = await planTriggers(engines.sql, survivors.world, plan)
  const unfired = async (): Promise<string[]> => {
    const deliveries = await survivors.sink.deliveries()
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

type Trail = Pick<Inspection, 'audit' | 'checkpoints' | 'checkpointsLost' | 'lossSeen'>

/**
 * Checks that the trail is intact and contains every checkpoint in the log up to the backup. The complete log reveals
 * the losses.
 */
async function inspectTrail({ env, survivors }: Scene): Promise<Trail> {
  const checkpoints = countCheckpoints(survivors.logUntilBackup)
  return {
    audit: await readAudit(env, survivors.logUntilBackup),
    checkpoints,
    checkpointsLost: countCheckpoints(survivors.logOfAll) - checkpoints,
    lossSeen: (await readAudit(env, survivors.logOfAll)).problems.length,
  }
}

const countCheckpoints = (file: string): number =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '').length

type Secrets = Pick<Inspection, 'keysMissing' | 'secretsUnreadable' | 'tokensRefused'>

/** Checks that the key of every sealed secret exists, and that the partner accepts the endpoint's secret. */
async function inspectSecrets({ env, survivors: { site }, replica, stage }: Scene): Promise<Secrets> {
  const { code, stdout } = await runManagerProcess(['keys', 'status'], env)
  const before = stage.partner.accepted()
  const response = await fetch(`${replica.url}/esb/${site.applicationId}/orders`, {
    method: 'POST',
    headers: { authorization: `Bearer ${site.machineToken}`, 'content-type': 'application/json' },
    body: '{"order":2}',
  })
  const text = await response.text()
  const isReadable = response.status === 200 && stage.partner.accepted() === before + 1
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
    secretsUnreadable: isReadable ? [] : [`the call returned ${response.status} ${text}`],
    tokensRefused: valid === true ? [] : [`the token check returned ${validated.status}`],
  }
}

type Pilet = { version: string; hash: string; signature: Buffer; key_id: string }

/**
 * Downloads every pilet and checks that its bytes match its hash and a signature by a key that was exported before the
 * loss.
 */
async function inspectPilets({
  engines,
  replica,
  survivors,
}: Scene): Promise<Pick<Inspection, 'pilets' | 'piletsBroken'>> {
  const { rows } = await engines.sql.query<Pilet>(
    'select version, hash, signature, key_id from pilet_packages order by created_at',
  )
  const broken: string[] = []
  for (const pilet of rows) {
    const path = piletPath({
      projectId: survivors.site.projectId,
      name: '@drill/store',
      version: pilet.version,
    })
    const response = await fetch(replica.url + path, { headers: personHeaders(survivors.site.adminId) })
    const bytes = Buffer.from(await response.arrayBuffer())
    if (!isIntact(pilet, bytes, survivors.piletKeys)) broken.push(`${pilet.version} (${response.status})`)
  }
  return { pilets: rows.length, piletsBroken: broken }
}

function isIntact({ hash, signature, key_id }: Pilet, bytes: Buffer, keys: Survivors['piletKeys']): boolean {
  const raw = Buffer.from(keys[key_id] ?? '', 'base64')
  if (raw.length !== 32 || createHash('sha256').update(bytes).digest('hex') !== hash) return false
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }
  return verify(null, bytes, createPublicKey({ key: jwk, format: 'jwk' }), signature)
}

/**
 * Checks that a new change is accepted and covered by a checkpoint, and that the trail matches the old and new
 * checkpoints.
 */
async function inspectNewChanges({ env, replica, survivors }: Scene): Promise<string[]> {
  const { adminId, tenantId } = survivors.site
  const rename = 'mutation($id: ID!) { updateTenant(id: $id, input: { name: "Acme again" }) { id } }'
  const checkpoints = (): string[] =>
    readFileSync(replica.logFile, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"checkpoint"'))
  try {
    const countBefore = checkpoints().length
    await ask(replica.url, adminId, rename, { id: tenantId })
    await until('a checkpoint', 30_000, () => Promise.resolve(checkpoints().length > countBefore))
    appendFileSync(survivors.logUntilBackup, `${checkpoints().join('\n')}\n`)
    return (await readAudit(env, survivors.logUntilBackup)).problems
  } catch (error) {
    return [(error as Error).message]
  }
}
