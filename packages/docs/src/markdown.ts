// Extends Markdown rendering: links to files outside docs/, literal double braces, diagrams, pictures and scrolling tables.
import { createHash } from 'node:crypto'
import type { MarkdownRenderer } from 'vitepress'
import { resolveLink } from './pages.ts'

type Rules = MarkdownRenderer['renderer']['rules']
type Rule = NonNullable<Rules[string]>
type Env = { relativePath: string }

/** Returns the base name for the image files of a diagram. It is derived from the diagram's source. */
export const getDiagramName = (source: string): string =>
  createHash('sha256').update(source.trim()).digest('hex').slice(0, 16)

/** Adapts the Markdown renderer. `onFile` receives each file that a page links to. */
export function adaptMarkdown(md: MarkdownRenderer, onFile: (source: string) => void): void {
  mapLinks(md, onFile)
  keepBraces(md.renderer.rules)
  showDiagrams(md.renderer.rules)
  showPictures(md.renderer.rules, onFile)
  const { rules } = md.renderer
  rules['table_open'] = () => '<div class="table" tabindex="0" role="group" aria-label="Table"><table>\n'
  rules['table_close'] = () => '</table></div>\n'
}

function mapLinks(md: MarkdownRenderer, onFile: (source: string) => void): void {
  md.core.ruler.push('map_links', ({ tokens, env }) => {
    const { relativePath } = env as Env
    for (const { children } of tokens)
      for (const token of children ?? []) {
        const link = token.type === 'link_open' ? token.attrGet('href') : null
        if (link !== null) token.attrSet('href', resolveLink(relativePath, link, onFile))
      }
  })
}

/** Marks text with double braces as v-pre. Otherwise, Vue would evaluate it. */
function keepBraces(rules: Rules): void {
  const { code_inline: code, text } = rules as { code_inline: Rule; text: Rule }
  rules['code_inline'] = (tokens, index, ...rest) => {
    tokens[index]?.attrSet('v-pre', '')
    return addBreaks(code(tokens, index, ...rest))
  }
  rules['text'] = (tokens, index, ...rest) => {
    const html = text(tokens, index, ...rest)
    return html.includes('{{') ? `<span v-pre>${html}</span>` : html
  }
}

/** Allows line breaks after separators in long names, so that table columns stay narrow. */
const addBreaks = (html: string): string =>
  html.replace(/(?<=^<code[^>]*>).*(?=<\/code>$)/s, (text) =>
    text.replaceAll(/(?<=\w[._/,]|\w&lt;)(?=\w)/g, '<wbr>'),
  )

function showDiagrams(rules: Rules): void {
  const fence = rules['fence'] as Rule
  rules['fence'] = (tokens, index, ...rest) => {
    const token = tokens[index]
    const html = fence(tokens, index, ...rest)
    if (token?.info.trim() !== 'mermaid') return html
    const name = getDiagramName(token.content)
    const createImage = (mode: string): string =>
      `<img class="${mode}-only" src="/diagrams/${name}-${mode}.svg" alt="Diagram; the text version follows">`
    return `<figure class="diagram">${createImage('light')}${createImage('dark')}</figure><details><summary>Diagram as text</summary>${html}</details>`
  }
}

/**
 * Renders both files of a `<picture>`, and the style sheet hides one of them. Readers can choose a theme on the page,
 * but `<picture>` knows only the theme of their system.
 */
function showPictures(rules: Rules, onFile: (source: string) => void): void {
  const block = rules['html_block'] as Rule
  rules['html_block'] = (tokens, index, ...rest) => {
    const html = block(tokens, index, ...rest)
    const { relativePath } = rest[1] as Env
    const [, dark] = / srcset="([^"]+)"/.exec(html) ?? []
    const [, alt, light] = /<img alt="([^"]*)" src="([^"]+)"/.exec(html) ?? []
    if (dark === undefined || light === undefined) return html
    const createImage = (mode: string, link: string): string =>
      `<img class="${mode}-only" src="${resolveLink(relativePath, link, onFile)}" alt="${alt}" loading="lazy">`
    return `<figure class="diagram">${createImage('light', light)}${createImage('dark', dark)}</figure>`
  }
}
