// Symbols that have a meaning in JSON, XML, forms, multipart bodies, headers, URLs or keys.

const signs = `[]{}<>?=&;:"'\\/!-%+,._#@|`.split('')
const markup = '<![CDATA[ ]]> <!-- --> <? ?> </ /> <a <a> </a> <name> <pin> </pin> b=" <!doctype'.split(' ')
const words =
  'password token pin name value a 1 null a.b. p.i. {" ":" "," "} {"a": "" a=b& pin=x& -----END ://'
const escapes = String.raw`\u0070 \" \\ %70 %3d %26 %25 %c3%a9 &#112; &#x70; &lt; &amp; &quot;`.split(' ')
const nonAscii = ['é', '\u0300', '\u0316', '\ufdfa', '\ufffd', '一', '🙂', 'ｐ', '\u00a0', '\ud800']
const lines = [
  ' ',
  '\t',
  '\n',
  'a:b\n',
  '--x',
  '\r\n--x\r\n',
  '--x\ncontent-:\n\n',
  'content-type: text/plain\r\n\r\n',
]
const credentials = ['bearer ', 'basic a ', '-----BEGIN PRIVATE KEY-----']

export const symbols: readonly string[] = [
  ...signs,
  ...markup,
  ...words.split(' '),
  ...escapes,
  ...nonAscii,
  ...lines,
  ...credentials,
]
