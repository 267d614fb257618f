// What a caller asks for, read from the request target as it came: nothing is decoded, joined or normalised, so that
// what is compared here and what anyone else reads in it cannot differ.

export type Invocation = { applicationId: string; path: string; query: string }

const hex = String.raw`[\da-fA-F]`
const form = new RegExp(
  String.raw`^/esb/(${hex}{8}-${hex}{4}-${hex}{4}-${hex}{4}-${hex}{12})(/[^?#]*)(?:\?([^#]*))?$`,
)

/** The parts of `/esb/<application id><path>?<query>`; null for any other text. */
export function readInvocation(target: string): Invocation | null {
  const [, applicationId, path, query = ''] = form.exec(target) ?? []
  return applicationId === undefined || path === undefined
    ? null
    : { applicationId: applicationId.toLowerCase(), path, query }
}

/** A stored path or URL with the caller's query appended. */
export const withQuery = (stored: string, query: string): string =>
  query === '' ? stored : `${stored}${stored.includes('?') ? '&' : '?'}${query}`
