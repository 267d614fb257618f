// This service accepts uploads. A bundle is collected, signed and stored, and one transaction then makes it a version.
// An upload that fails earlier leaves unreferenced bytes, which the service or the sweep removes.
import type { Actor } from '../../policy/actor.ts'
import { recheckPermission, stillHasPermission } from '../../policy/recheck.ts'
import type { Audit } from '../../platform/audit/append.ts'
import type { Blobs, StoredBlob } from '../../platform/blobs/blobs.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { AppError, badRequest, conflict, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { checkFields } from '../../platform/inputs/fields.ts'
import { checkText } from '../../platform/inputs/inputs.ts'
import { isExactVersion, isPackageName, maxNameLength } from '../../platform/inputs/packages.ts'
import { detectSpec, getStoredType } from './bundle-form.pure.ts'
import { maxDescriptionLength, packageEvent } from './packages.service.ts'
import type { PackageKey, PiletPackage } from './packages.store.ts'
import type { PiletMetrics } from './pilets.metrics.ts'
import { computePrecedence } from './precedence.pure.ts'
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
  /** Maximum usage of a project. */
  quota: store.Usage
}
export type UploadsService = ReturnType<typeof createUploadsService>

type UploadedFile = { declaredType: string; fileName: string }
export type Upload = {
  key: PackageKey
  description: string
  /** Whether to enable the version, provided that the caller has the permission to do so. */
  enabled: boolean
  /** The client network, used for the fair share of memory. */
  client: string
  /** Reads the body, passes each piece of the file to `take`, and resolves with the metadata of the file. */
  receive: (take: (piece: Uint8Array) => Promise<void>) => Promise<UploadedFile>
}
type ReceivedUpload = { file: UploadedFile; bytes: Buffer; sha256: string }

export function createUploadsService(deps: UploadsDeps) {
  const { db, memory, metrics, quota } = deps
  const accept = async (actor: Actor, upload: Upload): Promise<PiletPackage> => {
    checkUpload(upload)
    const { isTaken, usage } = await store.readVersionAndUsage(db.read, upload.key)
    if (isTaken) throw conflict(versionTakenMessage, 'version')
    checkQuota({ packages: usage.packages + 1, bytes: usage.bytes + 1 }, quota)
    const collector = memory.open(upload.key.projectId, upload.client)
    try {
      const file = await Promise.race([upload.receive(collector.take), collector.abortPromise])
      const { bytes, sha256 } = collector.getCollected()
      if (bytes.length === 0) throw badRequest('the file is empty; send the bundle in the field file')
      return await storeVersion(deps, actor, upload, { file, bytes, sha256 })
    } finally {
      collector.close()
    }
  }
  return {
    /** Accepts a new version. Throws 400, 409, 413 or 503 without storing anything. */
    accept: async (actor: Actor, upload: Upload): Promise<PiletPackage> => {
      try {
        const storedPackage = await accept(actor, upload)
        metrics.uploads.inc({ outcome: 'stored' })
        return storedPackage
      } catch (error) {
        const isRejected = error instanceof AppError && error.status < 500
        metrics.uploads.inc({ outcome: isRejected ? 'refused' : 'failed' })
        throw error
      }
    },
  }
}

/** Signs and stores the bytes, then registers the version. */
async function storeVersion(
  deps: UploadsDeps,
  actor: Actor,
  { key, description, enabled }: Upload,
  { file, bytes, sha256 }: ReceivedUpload,
): Promise<PiletPackage> {
  const signature = await deps.sign(bytes, { ...key, hash: sha256 })
  const blob = await deps.blobs.store(sha256, bytes)
  const values: store.NewPackage = {
    ...key,
    ...computePrecedence(key.version),
    ...signature,
    id: newId(),
    description,
    contentType: getStoredType(file.declaredType, file.fileName),
    size: bytes.length,
    hash: sha256,
    spec: detectSpec(bytes),
    enabled,
  }
  try {
    return await register(deps, actor, values, blob)
  } catch (error) {
    // If the release fails too, the sweep removes the bytes.
    await deps.blobs.release(blob).catch(() => undefined)
    throw error
  }
}

const register = (
  { db, audit, blobs, quota }: UploadsDeps,
  actor: Actor,
  values: store.NewPackage,
  blob: StoredBlob,
): Promise<PiletPackage> =>
  db.transaction(async (tx) => {
    // Receiving the body may have taken a long time, so everything is checked again. A project deletion locks the
    // project before its members, and this transaction uses the same order.
    const projectExists = await store.lockProject(tx, values.projectId)
    // Permissions are checked before existence, because only administrators may learn that the project was deleted.
    await recheckPermission(tx, actor, 'PILET_UPLOAD', values.projectId)
    if (!projectExists) throw notFound('project')
    const enabled = values.enabled && (await stillHasPermission(tx, actor, 'PILET_WRITE', values.projectId))
    const after = await store.insertPackage(tx, { ...values, enabled })
    await blobs.reference(tx, blob)
    checkQuota(await store.addUsage(tx, values.projectId, values.size), quota)
    await audit.append(tx, actor, packageEvent('create', { before: null, after }))
    return after
  })

function checkQuota(usage: store.Usage, quota: store.Usage): void {
  const exceededLimit = (['bytes', 'packages'] as const).find((key) => usage[key] > quota[key])
  if (exceededLimit === undefined) return
  const limitText = exceededLimit === 'bytes' ? `${quota.bytes} bytes` : `${quota.packages} packages`
  throw new AppError(
    'payload_too_large',
    `the upload would exceed the limit of ${limitText} for all versions of the project; ask the operator to raise it`,
  )
}

export const versionTakenMessage = 'this version already exists and cannot be changed; upload another version'

function checkUpload({ key, description }: Upload): void {
  checkFields({
    name: () => {
      if (!isPackageName(key.name))
        throw badRequest(
          `the name must be a valid npm package name, such as @acme/menu, of at most ${maxNameLength} characters`,
        )
    },
    version: () => {
      if (!isExactVersion(key.version))
        throw badRequest('the version must be strict SemVer, such as 1.4.0 or 1.4.0-rc.1')
    },
    description: () => checkText(description, 'description', maxDescriptionLength),
  })
}
