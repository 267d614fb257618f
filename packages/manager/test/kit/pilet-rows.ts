// Inserts packages and their settings with SQL, for tests of serving rather than uploading.
import { createHash, randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { createSigning, type Signing } from '../../src/features/pilets/signing.service.ts'
import { computePrecedence } from '../../src/features/pilets/precedence.pure.ts'
import { createAudit } from '../../src/platform/audit/append.ts'
import { createEncryptionRing } from '../../src/platform/secrets/keys.ts'
import { createMasterKeyLock } from '../../src/platform/secrets/master-key.ts'
import { createSecrets } from '../../src/platform/secrets/secrets.ts'
import type { TestApp } from './app.ts'
import type { SeededProject } from '@manager/harness/seed.ts'

export type PackageRow = {
  name: string
  version: string
  bytes?: Buffer
  enabled?: boolean
  contentType?: string
  spec?: string
  signature?: {
    signature: Buffer
    keyId: string
    statementSignature?: Buffer
    statementKeyId?: string
  }
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Adds packages to a project and returns their hashes. The default content is the name and version. */
export async function addPackages(
  sql: Pool,
  projectId: string,
  packages: readonly PackageRow[],
): Promise<string[]> {
  const rows = packages.map((one) => {
    const bytes = one.bytes ?? Buffer.from(`// ${one.name} ${one.version}`)
    return { ...one, ...computePrecedence(one.version), bytes, hash: sha256(bytes) }
  })
  const column = <T>(read: (row: (typeof rows)[number]) => T): T[] => rows.map(read)
  await sql.query(
    `insert into blobs (sha256, size, store, unreferenced_since)
     select hash, size, 'postgres', null from unnest($1::text[], $2::int[]) as blob (hash, size)
     on conflict do nothing`,
    [column(({ hash }) => hash), column(({ bytes }) => bytes.length)],
  )
  await sql.query(
    `insert into blob_chunks (sha256, position, bytes)
     select hash, 0, bytes from unnest($1::text[], $2::bytea[]) as chunk (hash, bytes) on conflict do nothing`,
    [column(({ hash }) => hash), column(({ bytes }) => bytes)],
  )
  await sql.query(
    `insert into pilet_packages (id, project_id, name, version, precedence, is_stable, content_type, size, hash, spec,
       enabled, signature, key_id, statement_signature, statement_key_id)
     select gen_random_uuid(), $1, * from unnest($2::text[], $3::text[], $4::text[], $5::bool[], $6::text[], $7::int[],
       $8::text[], $9::text[], $10::bool[], $11::bytea[], $12::text[], $13::bytea[], $14::text[])`,
    [
      projectId,
      column(({ name }) => name),
      column(({ version }) => version),
      column(({ precedence }) => precedence),
      column(({ isStable }) => isStable),
      column(({ contentType }) => contentType ?? 'text/javascript'),
      column(({ bytes }) => bytes.length),
      column(({ hash }) => hash),
      column(({ spec }) => spec ?? 'v2'),
      column(({ enabled }) => enabled ?? true),
      column(({ signature }) => signature?.signature ?? null),
      column(({ signature }) => signature?.keyId ?? null),
      column(({ signature }) => signature?.statementSignature ?? null),
      column(({ signature }) => signature?.statementKeyId ?? null),
    ],
  )
  return column(({ hash }) => hash)
}

export type Layer = 'project' | 'application' | 'tenant' | 'tenant2application'
type Owner = Pick<SeededProject, 'id' | 'applicationId' | 'tenantId'>

/** Sets the modules and, for the frontend, the key-value pairs of a layer. */
export async function setLayer(
  sql: Pool,
  { id, applicationId, tenantId }: Owner,
  layer: Layer,
  { modules, pairs }: { modules?: readonly string[]; pairs?: Record<string, string> },
): Promise<void> {
  const tenant = layer === 'tenant' || layer === 'tenant2application' ? tenantId : null
  const application = layer === 'application' || layer === 'tenant2application' ? applicationId : null
  const backend = modules === undefined ? {} : { EnabledModules: modules }
  const frontend =
    pairs === undefined
      ? {}
      : { KeyValuePairs: Object.entries(pairs).map(([Key, Value]) => ({ Key, Value })) }
  await sql.query(
    `insert into settings (id, project_id, tenant_id, application_id, backend_module_config, frontend_module_config)
     values ($1, $2, $3, $4, $5, $6) on conflict (project_id, tenant_id, application_id) do update set
       backend_module_config = settings.backend_module_config || excluded.backend_module_config,
       frontend_module_config = settings.frontend_module_config || excluded.frontend_module_config`,
    [randomUUID(), id, tenant, application, JSON.stringify(backend), JSON.stringify(frontend)],
  )
}

/** Returns the signing service that is also used for uploads. */
export function signingOf({ world, config }: TestApp): Signing {
  return createSigning({
    db: world.database.db,
    audit: createAudit(world.clock),
    secrets: createSecrets(createEncryptionRing(config.masterKey, config.encryptionKeys)),
    lockMasterKey: createMasterKeyLock(config.masterKey),
  })
}
