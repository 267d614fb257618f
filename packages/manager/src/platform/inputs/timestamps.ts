// Strict RFC 3339 timestamps: a zone is required and the day must exist.

const timestampPattern =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?(?:[Zz]|[+-](\d\d):(\d\d))$/

/** Parses a timestamp; returns null if it is invalid or outside the years 1 to 9999 in UTC. */
export function parseTimestamp(text: string): Date | null {
  const parts = timestampPattern
    .exec(text)
    ?.slice(1)
    .map((part) => Number(part ?? 0))
  if (parts === undefined) return null
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, zoneHours = 0, zoneMinutes = 0] =
    parts
  const lastDay = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
  const isExistingDay = month >= 1 && month <= 12 && day >= 1 && day <= lastDay
  if (!isExistingDay || hour > 23 || minute > 59 || second > 59 || zoneHours > 23 || zoneMinutes > 59)
    return null
  const instant = new Date(text.toUpperCase())
  const utcYear = instant.getUTCFullYear()
  return utcYear >= 1 && utcYear <= 9999 ? instant : null
}
