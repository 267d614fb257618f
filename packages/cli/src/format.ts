// The output formats. Kept apart from output.ts, because every start loads this file.
export const formats = ['table', 'json', 'yaml'] as const
export type Format = (typeof formats)[number]
