// The request target is parsed exactly as received: nothing is decoded, joined or normalized. The path that
// is compared here is therefore the same path that other components read.

export type Invocation = { applicationId: string; path: string; query: string }

const hex = String.raw`[\da-fA-F]`
const targetPattern = new RegExp(
  String.raw`^/esb/(${hex}{8}-${hex}{4}-${hex}{4}-${hex}{4}-${hex}{12})(/[^?#]*)(?:\?([^#]*))?$`,
)

/** Returns the parts of `/esb/<application id><path>?<query>`, or null for any other target. */
export function readInvocation(target: string): Invocation | null {
  const [, applicationId, path, query = ''] = targetPattern.exec(target) ?? []
  return applicationId === undefined || path === undefined
    ? null
    : { applicationId: applicationId.toLowerCase(), path, query }
}

/** Returns a stored path or URL with the caller's query appended. */
export const appendQuery = (stored: string, query: string): string =>
  query === '' ? stored : `${stored}${stored.includes('?') ? '&' : '?'}${query}`
