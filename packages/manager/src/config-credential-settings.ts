// Settings about credentials: how much hashing this process does, and when clients that fail are blocked.
import { integer, setting } from './config-readers.ts'

const count = integer(1, 100_000)
const milliseconds = integer(100, 86_400_000)

export const credentialSettings = {
  kdfThreads: setting(integer(1, 64), {
    key: 'credentials.kdf_threads',
    env: 'SVC_CREDENTIALS_KDF_THREADS',
    optional: true,
    doc: 'Threads that hash tokens and passwords (PBKDF2, about 0.15 s of a core each), at low priority. Without it one less than there are cores, at least one.',
  }),
  kdfMaxQueue: setting(integer(1, 1_000), {
    key: 'credentials.kdf_max_queue',
    env: 'SVC_CREDENTIALS_KDF_MAX_QUEUE',
    default: 16,
    doc: 'Hashes that may wait for a thread, in each of three lanes (making secrets, proving tokens, trying passwords) and at most half of them for one caller; further requests that need one are answered 503 with `Retry-After`.',
  }),
  maxRemembered: setting(integer(1_000, 10_000_000), {
    key: 'credentials.max_remembered',
    env: 'SVC_CREDENTIALS_MAX_REMEMBERED',
    default: 200_000,
    doc: 'Tokens and passwords whose proof this process remembers, about 300 bytes each. With more in use at once than this, proofs are done again and again.',
  }),
  validateThrottleFailures: setting(count, {
    key: 'throttles.validate.failures',
    env: 'SVC_THROTTLES_VALIDATE_FAILURES',
    default: 10,
    doc: 'Failed validations (`/api/validate-*`) that block a client.',
  }),
  validateThrottleWindowMs: setting(milliseconds, {
    key: 'throttles.validate.window_ms',
    env: 'SVC_THROTTLES_VALIDATE_WINDOW_MS',
    default: 300_000,
    doc: 'Time within which those failures are counted.',
  }),
  validateThrottleBlockMs: setting(milliseconds, {
    key: 'throttles.validate.block_ms',
    env: 'SVC_THROTTLES_VALIDATE_BLOCK_MS',
    default: 300_000,
    doc: 'How long the client is answered 429.',
  }),
  basicThrottleFailures: setting(count, {
    key: 'throttles.basic.failures',
    env: 'SVC_THROTTLES_BASIC_FAILURES',
    default: 5,
    doc: 'Failed Basic passwords for one user name that block a client.',
  }),
  basicThrottleWindowMs: setting(milliseconds, {
    key: 'throttles.basic.window_ms',
    env: 'SVC_THROTTLES_BASIC_WINDOW_MS',
    default: 900_000,
    doc: 'Time within which those failures are counted.',
  }),
  basicThrottleBlockMs: setting(milliseconds, {
    key: 'throttles.basic.block_ms',
    env: 'SVC_THROTTLES_BASIC_BLOCK_MS',
    default: 900_000,
    doc: 'How long the client is answered 429.',
  }),
  machineThrottleFailures: setting(count, {
    key: 'throttles.machine.failures',
    env: 'SVC_THROTTLES_MACHINE_FAILURES',
    default: 10,
    doc: 'Failed machine tokens (`/api/machine/*`, `/esb/*`) that block a client.',
  }),
  machineThrottleWindowMs: setting(milliseconds, {
    key: 'throttles.machine.window_ms',
    env: 'SVC_THROTTLES_MACHINE_WINDOW_MS',
    default: 60_000,
    doc: 'Time within which those failures are counted.',
  }),
  machineThrottleBlockMs: setting(milliseconds, {
    key: 'throttles.machine.block_ms',
    env: 'SVC_THROTTLES_MACHINE_BLOCK_MS',
    default: 60_000,
    doc: 'How long the client is answered 429 the first time; each further block is twice as long.',
  }),
  machineThrottleMaxBlockMs: setting(milliseconds, {
    key: 'throttles.machine.max_block_ms',
    env: 'SVC_THROTTLES_MACHINE_MAX_BLOCK_MS',
    default: 900_000,
    doc: 'Longest block.',
  }),
  forgeryThrottleFailures: setting(count, {
    key: 'throttles.forgery.failures',
    env: 'SVC_THROTTLES_FORGERY_FAILURES',
    default: 5,
    doc: 'Personal access tokens with a right check but a wrong rest, for one prefix, after which unknown tokens with this prefix are answered 429.',
  }),
  forgeryThrottleWindowMs: setting(milliseconds, {
    key: 'throttles.forgery.window_ms',
    env: 'SVC_THROTTLES_FORGERY_WINDOW_MS',
    default: 60_000,
    doc: 'Time within which those failures are counted.',
  }),
  forgeryThrottleBlockMs: setting(milliseconds, {
    key: 'throttles.forgery.block_ms',
    env: 'SVC_THROTTLES_FORGERY_BLOCK_MS',
    default: 60_000,
    doc: 'How long that lasts.',
  }),
} as const
