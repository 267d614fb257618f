// Negotiates the content type by the Accept header (RFC 9110, section 12.5.1).

/** Longer Accept headers are ignored: no browser sends them. */
const maxLength = 2_000

/** Whether an Accept header prefers HTML to JSON. Without a header, and on a tie, the response is JSON. */
export function prefersHtml(accept: string | undefined): boolean {
  if (accept === undefined || accept.length > maxLength) return false
  const ranges = accept.split(',').map(parseRange)
  return findQuality(ranges, 'text/html') > findQuality(ranges, 'application/json')
}

type Range = { type: string; quality: number }

function parseRange(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const qualityText = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  const quality =
    qualityText === undefined ? 1 : /^[01](?:\.\d{0,3})?$/.test(qualityText) ? Number(qualityText) : 0
  return { type, quality: Math.min(quality, 1) }
}

/** Returns the quality of the most specific range that matches. */
function findQuality(ranges: readonly Range[], type: string): number {
  for (const pattern of [type, `${type.slice(0, type.indexOf('/'))}/*`, '*/*']) {
    const matchingRanges = ranges.filter((range) => range.type === pattern)
    if (matchingRanges.length > 0) return Math.max(...matchingRanges.map(({ quality }) => quality))
  }
  return 0
}
