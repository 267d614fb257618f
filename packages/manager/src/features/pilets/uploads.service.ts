// Uploads: a bundle is collected, signed, stored, and only then becomes a version, in one transaction. What ends earlier
// leaves bytes that nothing refers to, and those are removed.
import type { Actor } from '../../policy/actor.ts'
import { recheckPermission, stillHolds } from '../../policy/recheck.ts'
import type { Audit } from '../../platform/audit/append.ts'
import type { Blobs, KeptBlob } from '../../platform/blobs/blobs.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { AppError, badRequest, conflict, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { checkText } from '../../platform/inputs/inputs.ts'
import { isExactVersion, isPackageName, maxNameLength } from '../../platform/inputs/packages.ts'
import { specOf, storedTypeOf } from './bundle-form.pure.ts'
import { maxDescriptionLength, packageEvent } from './packages.service.ts'
import type { PackageKey, PiletPackage } from './packages.store.ts'
import type { PiletMetrics } from './pilets.metrics.ts'
import { precedenceOf } from './precedence.pure.ts'
import type { Signing } from './signing.service.ts'
import type { UploadMemory } from './upload-memory.service.ts'
import * as store from './uploads.store.ts'

export type UploadsDeps = {
  db: Db
  audit: Audit
  blobs: Blobs
  memory: UploadMemory
  metrics: PiletMetrics
  sign: Signing['sign']
  /** What all versions of a project may come to. */
  quota: store.Usage
}
export type UploadsService = ReturnType<typeof createUploadsService>

type UploadedFile = { declaredType: string; fileName: string }
export type Upload = {
  key: PackageKey
  description: string
  /** True to enable the version, if the caller may enable versions. */
  enabled: boolean
  /** Whose connection it comes by. */
  client: string
  /** Reads the body, hands over each piece of the file, and says at its end what the file is. */
  receive: (take: (piece: Uint8Array) => Promise<void>) => Promise<UploadedFile>
}
type Received = { file: UploadedFile; bytes: Buffer; sha256: string }

export function createUploadsService(deps: UploadsDeps) {
  const { db, memory, metrics, quota } = deps
  const accept = async (actor: Actor, upload: Upload): Promise<PiletPackage> => {
    checkKey(upload.key)
    checkText(upload.description, 'description', maxDescriptionLength)
    const { isTaken, usage } = await store.readPlace(db.read, upload.key)
    if (isTaken) throw conflict(versionTaken)
    checkQuota({ packages: usage.packages + 1, bytes: usage.bytes + 1 }, quota)
    const collector = memory.open(upload.key.projectId, upload.client)
    try {
      const file = await Promise.race([upload.receive(collector.take), collector.ended])
      const { bytes, sha256 } = collector.collected()
      if (bytes.length === 0) throw badRequest('the file is empty; send the bundle in the field file')
      return await keep(deps, actor, upload, { file, bytes, sha256 })
    } finally {
      collector.close()
    }
  }
  return {
    /** Takes a new version in; throws 400, 409, 413 or 503, and then nothing is stored. */
    accept: async (actor: Actor, upload: Upload): Promise<PiletPackage> => {
      try {
        const stored = await accept(actor, upload)
        metrics.uploads.inc({ outcome: 'stored' })
        return stored
      } catch (error) {
        const isRefused = error instanceof AppError && error.status < 500
        metrics.uploads.inc({ outcome: isRefused ? 'refused' : 'failed' })
        throw error
      }
    },
  }
}

/** Signs and stores the bytes, and makes them a version. */
async function keep(
  deps: UploadsDeps,
  actor: Actor,
  { key, description, enabled }: Upload,
  { file, bytes, sha256 }: Received,
): Promise<PiletPackage> {
  const signed = await deps.sign(bytes, { ...key, hash: sha256 })
  const kept = await deps.blobs.keep(sha256, bytes)
  const values: store.NewPackage = {
    ...key,
    ...precedenceOf(key.version),
    ...signed,
    id: newId(),
    description,
    contentType: storedTypeOf(file.declaredType, file.fileName),
    size: bytes.length,
    hash: sha256,
    spec: specOf(bytes),
    enabled,
  }
  try {
    return await register(deps, actor, values, kept)
  } catch (error) {
    // Where that fails too, the sweep finds the bytes.
    await deps.blobs.release(kept).catch(() => undefined)
    throw error
  }
}

const register = (
  { db, audit, blobs, quota }: UploadsDeps,
  actor: Actor,
  values: store.NewPackage,
  kept: KeptBlob,
): Promise<PiletPackage> =>
  db.transaction(async (tx) => {
    // The body may have taken long to arrive. A deletion of the project locks it before its members, so this does too.
    const isThere = await store.lockProject(tx, values.projectId)
    // First: only administrators are told that the project is gone.
    await recheckPermission(tx, actor, 'PILET_UPLOAD', values.projectId)
    if (!isThere) throw notFound('project')
    const enabled = values.enabled && (await stillHolds(tx, actor, 'PILET_WRITE', values.projectId))
    const after = await store.insertPackage(tx, { ...values, enabled })
    await blobs.refer(tx, kept)
    checkQuota(await store.addUsage(tx, values.projectId, values.size), quota)
    await audit.append(tx, actor, packageEvent('create', { before: null, after }))
    return after
  })

function checkQuota(usage: store.Usage, quota: store.Usage): void {
  const over = (['bytes', 'packages'] as const).find((what) => usage[what] > quota[what])
  if (over === undefined) return
  const most = over === 'bytes' ? `${quota.bytes} bytes` : `${quota.packages} packages`
  throw new AppError(
    'payload_too_large',
    `all versions of a project come to at most ${most}; ask the operator for more room`,
  )
}

export const versionTaken =
  'this version exists already, and versions do not change; upload under another version'

function checkKey({ name, version }: PackageKey): void {
  if (!isPackageName(name))
    throw badRequest(
      `the name must be one that npm takes, such as @acme/menu, of at most ${maxNameLength} characters`,
    )
  if (!isExactVersion(version))
    throw badRequest('the version must be strict SemVer, such as 1.4.0 or 1.4.0-rc.1')
}
