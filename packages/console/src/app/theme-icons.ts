// The icon of each theme.
import type { IconName } from '../kit/icon.tsx'
import type { Theme } from '../kit/theme.ts'

export const themeIcons: Readonly<Record<Theme, IconName>> = { system: 'screen', light: 'sun', dark: 'moon' }
