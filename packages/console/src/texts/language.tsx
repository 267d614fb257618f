// The language of the page. The browser settings determine it; a person can change it, and this browser stores the
// choice. Only the texts of this language are loaded.
import { type ReactNode, createContext, use, useEffect, useMemo, useState } from 'react'
import { I18nProvider } from 'react-aria-components'
import { readStored, saveStored } from '../api/browser-storage.ts'
import { getPageTexts } from './page-texts.ts'
import { type Texts, type Translate, createTranslate } from './texts.ts'

const storageKey = 'svc-console.language'
export const languages = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof languages

const loaders: Record<Language, () => Promise<Texts>> = {
  en: async () => (await import('./en.ts')).en,
  de: async () => (await import('./de.ts')).de,
}

/** Without texts, the page shows this sentence in English. */
const failureText = 'The console cannot load its texts. Check your connection and reload the page.'

type LanguageState = {
  language: Language
  locale: string
  t: Translate
  switchTo: (language: Language) => void
}
const LanguageContext = createContext<LanguageState | null>(null)

const isLanguage = (value: string | null | undefined): value is Language =>
  value !== null && value !== undefined && Object.hasOwn(languages, value)

function findPreferredLanguage(): Language {
  const stored = readStored(storageKey)
  if (isLanguage(stored)) return stored
  return navigator.languages.map((tag) => tag.slice(0, 2)).find(isLanguage) ?? 'en'
}

/** Keeps the browser's region, such as de-AT, for numbers and dates. */
const findLocale = (language: Language): string =>
  navigator.languages.find((tag) => tag.startsWith(language)) ?? language

/** Renders its children when the texts of the language are loaded. */
export function LanguageProvider({ children }: { children: ReactNode }): ReactNode {
  const [language, setLanguage] = useState(findPreferredLanguage)
  const [loaded, setLoaded] = useState<{ language: Language; texts: Texts } | null>(null)
  const [hasFailed, setFailed] = useState(false)
  useEffect(() => {
    let isCurrent = true
    const show = (shown: Language, texts: Texts): void => {
      if (!isCurrent) return
      document.documentElement.lang = shown
      setLoaded({ language: shown, texts })
    }
    // If the file of a language cannot be loaded, the page is shown in English, and a note says that a newer version is
    // installed.
    loaders[language]()
      .then((texts) => show(language, texts))
      .catch(async () => show('en', await loaders.en()))
      .catch(() => setFailed(isCurrent))
    return () => {
      isCurrent = false
    }
  }, [language])
  const state = useMemo((): LanguageState | null => {
    if (loaded === null) return null
    return {
      language: loaded.language,
      locale: findLocale(loaded.language),
      t: createTranslate(loaded.texts, getPageTexts(loaded.language)),
      switchTo: (next) => {
        saveStored(storageKey, next)
        setLanguage(next)
      },
    }
  }, [loaded])
  if (state === null) return hasFailed ? <p role="alert">{failureText}</p> : null
  return (
    <I18nProvider locale={state.locale}>
      <LanguageContext value={state}>{children}</LanguageContext>
    </I18nProvider>
  )
}

/** Returns the current language and the function that changes it. */
export function useLanguage(): LanguageState {
  const state = use(LanguageContext)
  if (state === null) throw new Error('useLanguage needs a LanguageProvider')
  return state
}

/** Returns the function that translates a key. */
export const useText = (): Translate => useLanguage().t
