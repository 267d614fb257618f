// What must hold of a restored installation.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { appendFileSync, readFileSync } from 'node:fs'
import { proxySecret } from '../faults/replicas.ts'
import { until } from '../faults/children.ts'
import type { createVerdict } from '../faults/verdict.ts'
import { runManager } from '../test/kit/process.ts'
import { piletPath } from '../test/kit/pilets.ts'
import { ask, personHeaders } from './installation.ts'
import { findMissing, readAudit } from './look.ts'
import type { Kept, Restored } from './restore.ts'
import type { Stage } from './stage.ts'

type Scene = Restored & { stage: Stage; kept: Kept }
type Figures = ReturnType<typeof createVerdict>

/** Looks at everything, and lets the installation go on working. */
export async function judgeRestored(scene: Scene, figures: Figures): Promise<void> {
  const { say } = scene.stage
  say('looking for everything that was acknowledged')
  await judgeRows(scene, figures)
  say('verifying the audit trail and its checkpoints')
  await judgeTrail(scene, figures)
  say('opening secrets')
  await judgeSecrets(scene, figures)
  say('verifying pilets')
  await judgePilets(scene, figures)
  say('working on')
  await judgeGoingOn(scene, figures)
}

/** What was acknowledged before the backup ended is there; what came later is counted. */
async function judgeRows({ engines, kept: { load, backup } }: Scene, figures: Figures): Promise<void> {
  const missing = await findMissing(engines.sql, load.acknowledged)
  const before = load.acknowledged.filter(({ ackedAt }) => ackedAt < backup.holdsUntil)
  figures.atLeast('acknowledged', before.length, 1)
  figures.none(
    'missing',
    missing.filter(({ ackedAt }) => ackedAt < backup.holdsUntil).map(({ kind, id }) => `${kind} ${id}`),
  )
  figures.show('after_backup', load.acknowledged.length - before.length)
  figures.show('of_them_lost', missing.filter(({ ackedAt }) => ackedAt >= backup.holdsUntil).length)
  figures.show('rows', await countRows(engines.sql))
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

/** The trail is whole, and has every checkpoint of the log up to the backup; the whole log shows what is lost. */
async function judgeTrail({ env, kept }: Scene, figures: Figures): Promise<void> {
  const audit = await readAudit(env, kept.logUntilBackup)
  figures.none('audit_broken', audit.problems)
  figures.atLeast('audit_rows', audit.rows, 1)
  figures.atLeast('checkpoints', countCheckpoints(kept.logUntilBackup), 1)
  figures.show('checkpoints_lost', countCheckpoints(kept.logOfAll) - countCheckpoints(kept.logUntilBackup))
  const { problems } = await readAudit(env, kept.logOfAll)
  figures.atLeast('loss_seen', problems.length, 1)
}

const countCheckpoints = (file: string): number =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '').length

/** Every sealed secret has its key, and the endpoint's is accepted by the partner. */
async function judgeSecrets({ env, kept: { site }, replica, stage }: Scene, figures: Figures): Promise<void> {
  const { code, stdout } = await runManager(['keys', 'status'], env)
  figures.none('keys_missing', code === 0 ? [] : [stdout.trim()])
  const before = stage.partner.accepted()
  const response = await fetch(`${replica.url}/esb/${site.applicationId}/orders`, {
    method: 'POST',
    headers: { authorization: `Bearer ${site.machineToken}`, 'content-type': 'application/json' },
    body: '{"order":2}',
  })
  const text = await response.text()
  const isOpen = response.status === 200 && stage.partner.accepted() === before + 1
  figures.none('secrets_closed', isOpen ? [] : [`the call is answered ${response.status} ${text}`])
  const validated = await fetch(`${replica.url}/api/validate-proxy-auth`, {
    method: 'POST',
    headers: { 'x-proxy-auth': proxySecret, 'content-type': 'application/json' },
    body: JSON.stringify({
      authorization_header: `Bearer ${site.personalToken}`,
      application_id: site.applicationId,
    }),
  })
  const { valid } = (await validated.json()) as { valid?: boolean }
  figures.none('tokens_refused', valid === true ? [] : [`the token is answered ${validated.status}`])
}

type Pilet = { version: string; hash: string; signature: Buffer; key_id: string }

/** Every pilet is downloaded; its bytes have their hash, and the signature is of a key that was exported before. */
async function judgePilets({ engines, replica, kept }: Scene, figures: Figures): Promise<void> {
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
  figures.atLeast('pilets', rows.length, 1)
  figures.none('pilets_broken', broken)
}

function isWhole({ hash, signature, key_id }: Pilet, bytes: Buffer, keys: Kept['piletKeys']): boolean {
  const raw = Buffer.from(keys[key_id] ?? '', 'base64')
  if (raw.length !== 32 || createHash('sha256').update(bytes).digest('hex') !== hash) return false
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }
  return verify(null, bytes, createPublicKey({ key: jwk, format: 'jwk' }), signature)
}

/** A change is accepted and sealed by a checkpoint; old and new checkpoints together fit the trail. */
async function judgeGoingOn({ env, replica, kept }: Scene, figures: Figures): Promise<void> {
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
    const { problems } = await readAudit(env, kept.logUntilBackup)
    figures.none('broken_since', problems)
  } catch (error) {
    figures.none('broken_since', [(error as Error).message])
  }
}
