/** Parses CSV (RFC 4180) into records of unquoted cells. */
export function parseCsv(text: string): string[][] {
  const records: string[][] = []
  let record: string[] = []
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/gy
  while (cell.lastIndex < text.length) {
    const match = cell.exec(text)
    if (match === null) throw new Error('not CSV')
    record.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    if (match[3] === ',') continue
    records.push(record)
    record = []
  }
  return records
}
