// These settings limit the size and memory use of pilets. config/blob-settings.ts defines where their bytes are stored.
import { duration, integer, defineSetting } from '../../config/readers.ts'

const mebibyte = 1_048_576

export const piletSettings = {
  piletsMaxUploadBytes: defineSetting(integer(1_024, 64 * mebibyte), {
    key: 'pilets.max_upload_bytes',
    env: 'SVC_PILETS_MAX_UPLOAD_BYTES',
    default: 16 * mebibyte,
    doc: 'Maximum size of an uploaded bundle. A larger bundle returns 413.',
  }),
  piletsMaxProjectBytes: defineSetting(integer(1_024, Number.MAX_SAFE_INTEGER), {
    key: 'pilets.max_project_bytes',
    env: 'SVC_PILETS_MAX_PROJECT_BYTES',
    default: 10_240 * mebibyte,
    doc: 'Maximum total size of all pilet versions of a project. An upload that would exceed it returns 413.',
  }),
  piletsMaxProjectPackages: defineSetting(integer(1, 10_000_000), {
    key: 'pilets.max_project_packages',
    env: 'SVC_PILETS_MAX_PROJECT_PACKAGES',
    default: 100_000,
    doc: 'Maximum total number of pilet versions of a project. An upload that would exceed it returns 413.',
  }),
  piletsUploadMemoryBytes: defineSetting(integer(1_024, 4_096 * mebibyte), {
    key: 'pilets.upload_memory_bytes',
    env: 'SVC_PILETS_UPLOAD_MEMORY_BYTES',
    default: 64 * mebibyte,
    doc: 'Memory of this process for uploads in progress, shared fairly between projects and clients. Further uploads wait briefly and then return 503 with `Retry-After`. Must be at least twice `pilets.max_upload_bytes`.',
  }),
  piletsSendMemoryBytes: defineSetting(integer(1_024, 65_536 * mebibyte), {
    key: 'pilets.send_memory_bytes',
    env: 'SVC_PILETS_SEND_MEMORY_BYTES',
    default: 128 * mebibyte,
    doc: 'Memory of this process for bundles that are being sent, shared fairly between projects and clients. Each bundle counts once, regardless of the number of clients that load it. Further downloads wait briefly and then return 503 with `Retry-After`. Must be at least twice `pilets.max_upload_bytes`.',
  }),
  piletsCacheBytes: defineSetting(integer(0, 65_536 * mebibyte), {
    key: 'pilets.cache_bytes',
    env: 'SVC_PILETS_CACHE_BYTES',
    default: 64 * mebibyte,
    doc: 'Memory of this process for cached bundles. The least recently used bundles are evicted first.',
  }),
  piletsOrphanGraceMs: defineSetting(duration(1_000, 30 * 86_400_000), {
    key: 'pilets.orphan_grace',
    env: 'SVC_PILETS_ORPHAN_GRACE',
    default: 3_600_000,
    doc: 'Time for which the Manager keeps unreferenced bytes, such as the bytes of an interrupted upload.',
  }),
} as const
