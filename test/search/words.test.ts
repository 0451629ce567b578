// What a search ignores, and where the words of a name begin.
import { expect, test } from "vitest";
import { createMatcher } from "../../shared/domain/words.ts";

test.each([
  ["ＳＨＯＰ", ["shop", "ｓｈｏｐ", "SHO"]],
  ["ﬁnance № 5 Ⅷ", ["finance", "no 5 viii", "FINANCE"]],
  ["ｶﾌｪ ① ℌotel", ["カフェ", "1", "hotel"]],
  ["STRAẞE Øresund Þórshöfn", ["strasse", "oresund", "thorshofn"]],
  ["İstanbul ΘΕΣ", ["istanbul", "ISTANBUL", "θεσ", "θες"]],
  ["ΘΕΣΣΑΛΟΝΙΚΗΣ", ["ΘΕΣ", "θες", "θεσσαλονικης", "ΘΕΣΣΑΛΟΝΊΚΗΣ"]],
  ["O’Brien", ["obrien", "o'brien", "O’BRIEN", "o´brien", "brien"]],
  ["OBrien", ["o'brien"]],
  ["L'Atelier d‘Or", ["atelier", "latelier", "dor", "or"]],
  ["Kapiʻolani, Col·lecció", ["kapiolani", "kapi'olani", "colleccio"]],
  ["צה״ל", ["צהל", "צה״ל"]],
  ["כהן בע״מ", ["בעמ", 'בע"מ', "בע”מ", "בע''מ"]],
  ['כהן בע"מ', ["בעמ", "בע״מ", 'בע"מ']],
  ['ה"שופר"', ["שופר", "השופר"]],
  ["Shop ٣, ۴ और १२", ["3", "4", "12", "٣", "۳", "१2", "Shop ３"]],
  ["Shop 3", ["٣", "३"]],
  ["Qurʾān ʿAlī", ["quran", "ali", "qurʾan"]],
  ["Մարտ՚ի", ["Մարտի", "մարտ՚ի"]],
  ["می\u200cخواهم", ["میخواهم", "می\u200cخواهم", "خواهم", "ميخواهم"]],
  ["مَحْمُود محـمد", ["محمود", "محمد"]],
  ["株式会社山田商店", ["山田", "株式", "商店", "会社山田"]],
  ["ジョン・スミスカフェ", ["スミス", "カフェ", "ジョンスミス"]],
  ["東京Shop2号店", ["shop", "京", "店"]],
  ["𠮷野家", ["𠮷野", "野家"]],
  ["삼성전자", ["삼성", "전자", "삼서"]],
  ["ร้านกาแฟน้ำใส", ["กาแฟ", "น้ำ"]],
  ["ຮ້ານກາເຟ", ["ກາເຟ"]],
  ["ហាងកាហ្វេ", ["កាហ្វេ"]],
  ["ကော်ဖီဆိုင်", ["ဆိုင်"]],
  ["བོད་ལྗོངས", ["ལྗོངས"]],
])("%s is found by %j", (name, searches) => {
  expect(searches.filter((search) => !createMatcher(search)(name))).toEqual([]);
});

test.each([
  ["Workshop", "shop"],
  ["Shop", "hop"],
  ["Добрый", "брый"],
  ["삼성", "ㅏ"],
  ["Shop 🎉", "🎉"],
  ["🎉", "🎉"],
  ["1 Shop", "1️⃣"],
  ["1 Shop", "1⃣"],
  ["Info", "ℹ️"],
  ["Metro", "Ⓜ️"],
  ["TM", "™️"],
  ["1️⃣ Shop", "1️⃣"],
  ["O’Brien", "rien"],
  ["Shop", "+"],
])("%s is not found by %s", (name, search) => {
  expect(createMatcher(search)(name)).toBe(false);
});

test.each([
  ["Workshop", ["shop", "orks", "WORK"]],
  ["Bücherstube Aachen", ["stube", "cherst aach"]],
  ["O’Brien", ["rien"]],
])("%s has %j within a word", (name, searches) => {
  expect(searches.filter((search) => !createMatcher(search, { within: true })(name))).toEqual([]);
});

test.each([
  ["Workshop", "op"], // in too many words
  ["Workshop", "shop x"],
  ["Workshop", "🎉"],
])("%s does not have %s within a word", (name, search) => {
  expect(createMatcher(search, { within: true })(name)).toBe(false);
});
