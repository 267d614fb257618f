// The result of one check of `svc doctor`.
export type CheckName =
  'address' | 'network proxy' | 'connection' | 'clock' | 'token' | 'expiry' | 'permissions'
type CheckStatus = 'ok' | 'warning' | 'failed' | 'skipped'
/** `hint` tells the user what to do; null if there is nothing to do. */
export type Check = { check: CheckName; status: CheckStatus; result: string; hint: string | null }

export const ok = (check: CheckName, result: string): Check => ({ check, status: 'ok', result, hint: null })
export const warn = (check: CheckName, result: string, hint: string): Check => ({
  check,
  status: 'warning',
  result,
  hint,
})
export const fail = (check: CheckName, result: string, hint: string): Check => ({
  check,
  status: 'failed',
  result,
  hint,
})
export const skip = (check: CheckName, result: string): Check => ({
  check,
  status: 'skipped',
  result,
  hint: null,
})
