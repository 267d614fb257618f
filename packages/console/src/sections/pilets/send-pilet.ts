// Uploads one version, and finds out what happened if the Manager rejects it or the connection is lost.
import { ConnectionError, GraphqlError, ResponseError, graphql } from '@manager/client'
import { connection } from '../../api/connection.ts'
import { reportError, reportSuccess } from '../../api/connection-state.ts'
import { type Failure, describeFailure } from '../../api/failures.ts'
import { sendFile } from '../../api/send-file.ts'
import { type PiletVersionResult, piletVersionDocument } from '../../generated/documents.ts'
import type { PackageManifest } from './package-archive.ts'

type StoredVersion = PiletVersionResult['piletPackage']
export type UploadProblem =
  /** The version exists with the same bytes. */
  | { readonly kind: 'sameContent'; readonly stored: StoredVersion }
  /** The version exists with other bytes; null if it could not be read. */
  | { readonly kind: 'otherContent'; readonly stored: StoredVersion | null }
  | { readonly kind: 'tooLarge'; readonly message: string }
  /** The connection was lost, and the version was not stored. */
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failure'; readonly failure: Failure }
type UploadOutcome =
  | { readonly kind: 'done'; readonly packageId: string; readonly isEnabled: boolean }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly problem: UploadProblem }

type PiletUpload = {
  projectId: string
  file: File
  manifest: PackageManifest
  /** Whether the version is enabled immediately. Without the permission, the Manager stores it disabled. */
  isEnabled: boolean
  onProgress: (sentBytes: number, totalBytes: number) => void
  signal: AbortSignal
}

const createPath = ({ projectId, manifest, isEnabled }: PiletUpload): string => {
  const query = new URLSearchParams({ enabled: String(isEnabled) })
  if (manifest.description !== '') query.set('description', manifest.description)
  const parts = [projectId, manifest.name.trim(), manifest.version.trim()].map(encodeURIComponent)
  return `/pilets/${parts.join('/')}?${query.toString()}`
}

/** Sends a file. Never throws. */
export async function sendPilet(upload: PiletUpload): Promise<UploadOutcome> {
  let isSent = false
  const { file, signal, onProgress } = upload
  try {
    const stored = (await sendFile({
      path: createPath(upload),
      field: 'file',
      file,
      signal,
      onProgress: (sentBytes, totalBytes) => {
        isSent = sentBytes >= totalBytes
        onProgress(sentBytes, totalBytes)
      },
    })) as { id: string; enabled: boolean }
    reportSuccess()
    return { kind: 'done', packageId: stored.id, isEnabled: stored.enabled }
  } catch (error) {
    // The Manager may have stored the version before the request was cancelled.
    if (signal.aborted)
      return (isSent ? await findOutcome(upload).catch(() => null) : null) ?? { kind: 'cancelled' }
    return explain(error, upload)
  }
}

const fail = (problem: UploadProblem): UploadOutcome => ({ kind: 'failed', problem })

async function explain(error: unknown, upload: PiletUpload): Promise<UploadOutcome> {
  if (error instanceof ResponseError && error.status === 413)
    return fail({ kind: 'tooLarge', message: error.message })
  if (error instanceof ResponseError && error.status === 409) return fail(await explainConflict(upload))
  reportError(error)
  const failure = describeFailure(error, { isChange: true })
  if (!(error instanceof ConnectionError) || failure.kind === 'offline')
    return fail({ kind: 'failure', failure })
  try {
    return (await findOutcome(upload)) ?? fail({ kind: 'interrupted' })
  } catch (cause) {
    const { kind } = describeFailure(cause)
    return fail({ kind: 'failure', failure: kind === 'sessionEnded' ? describeFailure(cause) : failure })
  }
}

/** Compares the file with the version that exists. */
async function explainConflict(upload: PiletUpload): Promise<UploadProblem> {
  const stored = await findStored(upload).catch(() => null)
  const isSame = stored !== null && stored.hash === (await hash(upload.file))
  return isSame ? { kind: 'sameContent', stored } : { kind: 'otherContent', stored }
}

/** Returns the outcome if the version exists with the bytes of the file; null if it does not exist. */
async function findOutcome(upload: PiletUpload): Promise<UploadOutcome | null> {
  const stored = await findStored(upload)
  if (stored === null) return null
  if (stored.hash === (await hash(upload.file)))
    return { kind: 'done', packageId: stored.id, isEnabled: stored.enabled }
  return { kind: 'failed', problem: { kind: 'otherContent', stored } }
}

async function findStored({ projectId, manifest }: PiletUpload): Promise<StoredVersion | null> {
  const key = { project: projectId, name: manifest.name.trim(), version: manifest.version.trim() }
  try {
    return (await graphql(connection, piletVersionDocument, key)).piletPackage
  } catch (error) {
    if (error instanceof GraphqlError && error.code === 'not_found') return null
    throw error
  }
}

/** Returns the SHA-256 of a file, or null if the page has no secure context or the file cannot be read. */
async function hash(file: File): Promise<string | null> {
  try {
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await file.arrayBuffer()))
    return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  } catch {
    return null
  }
}
