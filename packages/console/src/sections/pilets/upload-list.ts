// The list of files to upload, and the changes to it. Files are uploaded one after another.
import type { FileProblem, PackageManifest, ReadPackage } from './package-archive.ts'
import type { UploadProblem } from './send-pilet.ts'

/** The largest size that an installation can allow. Most allow less, and then the Manager rejects the file. */
export const maxFileBytes = 64 * 1_048_576
export const maxFiles = 20

export type Rejection = FileProblem | 'tooLarge' | 'repeated'
type UploadState =
  | { readonly kind: 'reading' }
  /** Can be uploaded, once a script has a name and a version. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'rejected'; readonly problem: Rejection }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'sending'; readonly sentBytes: number; readonly totalBytes: number }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly problem: UploadProblem }
  | { readonly kind: 'done'; readonly packageId: string; readonly isEnabled: boolean }
export type Upload = {
  readonly id: number
  readonly file: File
  readonly isScript: boolean
  readonly manifest: PackageManifest
  readonly state: UploadState
}
export type UploadChange =
  | { readonly kind: 'add'; readonly id: number; readonly file: File }
  | { readonly kind: 'read'; readonly id: number; readonly result: ReadPackage }
  | { readonly kind: 'edit'; readonly id: number; readonly manifest: PackageManifest }
  | { readonly kind: 'remove'; readonly id: number }
  /** Queues every file that is ready. */
  | { readonly kind: 'start' }
  | { readonly kind: 'retry'; readonly id: number }
  | { readonly kind: 'state'; readonly id: number; readonly state: UploadState }

const noManifest: PackageManifest = { name: '', version: '', description: '' }

export const isActive = ({ state }: Upload): boolean => state.kind === 'waiting' || state.kind === 'sending'

/** Returns whether a file can be uploaded. */
export const isReady = ({ state, manifest }: Upload): boolean =>
  state.kind === 'ready' && manifest.name.trim() !== '' && manifest.version.trim() !== ''

/** Returns the file to upload next; undefined while another one is being uploaded. */
export const findNext = (uploads: readonly Upload[]): Upload | undefined =>
  uploads.some(({ state }) => state.kind === 'sending')
    ? undefined
    : uploads.find(({ state }) => state.kind === 'waiting')

/** Returns the fraction of the bytes that has been sent, over all files that are not finished or rejected. */
export function measureProgress(uploads: readonly Upload[]): number {
  const active = uploads.filter(isActive)
  const total = active.reduce((sum, { file }) => sum + file.size, 0)
  const sent = active.reduce(
    (sum, { state, file }) =>
      state.kind === 'sending' && state.totalBytes > 0
        ? sum + (state.sentBytes / state.totalBytes) * file.size
        : sum,
    0,
  )
  return total === 0 ? 0 : sent / total
}

function addUpload(uploads: readonly Upload[], id: number, file: File): readonly Upload[] {
  if (uploads.length >= maxFiles) return uploads
  const upload: Upload = { id, file, isScript: false, manifest: noManifest, state: { kind: 'reading' } }
  return [
    ...uploads,
    file.size > maxFileBytes
      ? { ...upload, state: { kind: 'rejected', problem: 'tooLarge' } as const }
      : upload,
  ]
}

function applyRead(upload: Upload, result: ReadPackage, others: readonly Upload[]): Upload {
  if (upload.state.kind !== 'reading') return upload
  if (result.kind === 'problem') return { ...upload, state: { kind: 'rejected', problem: result.problem } }
  if (result.kind === 'script') return { ...upload, isScript: true, state: { kind: 'ready' } }
  const { manifest } = result
  const isRepeated = others.some(
    ({ manifest: { name, version }, state }) =>
      state.kind !== 'rejected' && name === manifest.name && version === manifest.version,
  )
  return {
    ...upload,
    manifest,
    state: isRepeated ? { kind: 'rejected', problem: 'repeated' } : { kind: 'ready' },
  }
}

export function changeUploads(uploads: readonly Upload[], change: UploadChange): readonly Upload[] {
  const changeOne = (id: number, update: (upload: Upload) => Upload): readonly Upload[] =>
    uploads.map((upload) => (upload.id === id ? update(upload) : upload))
  switch (change.kind) {
    case 'add':
      return addUpload(uploads, change.id, change.file)
    case 'read': {
      const others = uploads.filter(({ id }) => id !== change.id)
      return changeOne(change.id, (upload) => applyRead(upload, change.result, others))
    }
    case 'edit':
      return changeOne(change.id, (upload) => ({ ...upload, manifest: change.manifest }))
    case 'remove':
      return uploads.filter(({ id }) => id !== change.id)
    case 'start':
      return uploads.map((upload) => (isReady(upload) ? { ...upload, state: { kind: 'waiting' } } : upload))
    case 'retry':
      return changeOne(change.id, (upload) => ({ ...upload, state: { kind: 'waiting' } }))
    case 'state':
      return changeOne(change.id, (upload) => ({ ...upload, state: change.state }))
  }
}
