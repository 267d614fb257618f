// The settings of pilets: how large they may be. Where their bytes are kept: config/blob-settings.ts.
import { duration, integer, setting } from '../../config/readers.ts'

const mebibyte = 1_048_576

export const piletSettings = {
  piletsMaxUploadBytes: setting(integer(1_024, 64 * mebibyte), {
    key: 'pilets.max_upload_bytes',
    env: 'SVC_PILETS_MAX_UPLOAD_BYTES',
    default: 16 * mebibyte,
    doc: 'The largest bundle that can be uploaded; a larger one is answered 413.',
  }),
  piletsMaxProjectBytes: setting(integer(1_024, Number.MAX_SAFE_INTEGER), {
    key: 'pilets.max_project_bytes',
    env: 'SVC_PILETS_MAX_PROJECT_BYTES',
    default: 10_240 * mebibyte,
    doc: 'What all versions of all pilets of a project may come to; an upload beyond it is answered 413.',
  }),
  piletsMaxProjectPackages: setting(integer(1, 10_000_000), {
    key: 'pilets.max_project_packages',
    env: 'SVC_PILETS_MAX_PROJECT_PACKAGES',
    default: 100_000,
    doc: 'How many versions of pilets a project may have, all of them together; an upload beyond it is answered 413.',
  }),
  piletsUploadMemoryBytes: setting(integer(1_024, 4_096 * mebibyte), {
    key: 'pilets.upload_memory_bytes',
    env: 'SVC_PILETS_UPLOAD_MEMORY_BYTES',
    default: 64 * mebibyte,
    doc: 'What this process holds of uploads that are under way, shared fairly between projects and clients; further ones wait shortly and are answered 503 with `Retry-After`. At least twice `pilets.max_upload_bytes`.',
  }),
  piletsSendMemoryBytes: setting(integer(1_024, 65_536 * mebibyte), {
    key: 'pilets.send_memory_bytes',
    env: 'SVC_PILETS_SEND_MEMORY_BYTES',
    default: 128 * mebibyte,
    doc: 'What this process holds of bundles that are being sent, shared fairly between projects and clients; a bundle counts once, however many load it. Further ones wait shortly and are answered 503 with `Retry-After`. At least twice `pilets.max_upload_bytes`.',
  }),
  piletsCacheBytes: setting(integer(0, 65_536 * mebibyte), {
    key: 'pilets.cache_bytes',
    env: 'SVC_PILETS_CACHE_BYTES',
    default: 64 * mebibyte,
    doc: 'Bundles this process keeps in memory; those that were asked for last stay.',
  }),
  piletsOrphanGraceMs: setting(duration(1_000, 30 * 86_400_000), {
    key: 'pilets.orphan_grace',
    env: 'SVC_PILETS_ORPHAN_GRACE',
    default: 3_600_000,
    doc: 'How long bytes that no pilet refers to are kept, such as those of an upload that was interrupted.',
  }),
} as const
