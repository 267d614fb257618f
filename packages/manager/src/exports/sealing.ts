// For programs that seal and open secrets as a process of the service does.
export { tokenPlace } from '../features/backends/token-place.pure.ts'
export { encryptionRing } from '../platform/secrets/keys.ts'
export { type LockMasterKey, createLockMasterKey } from '../platform/secrets/master-key.ts'
export { type Secrets, createSecrets } from '../platform/secrets/secrets.ts'
