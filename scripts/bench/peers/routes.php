<?php
// php routes.php FOLDER FILE...: METHOD PATH Controller@action, with this Route in the place of Laravel's.
error_reporting(E_ERROR);ini_set("display_errors","stderr");
class Any { const REGEX='x'; function __call($n,$a){return $this;} static function __callStatic($n,$a){return new self;} function __invoke(...$a){return $this;} function __toString(){return 'any';} }
spl_autoload_register(function($c){ $s=substr(strrchr('\\'.$c,'\\'),1); if ($s==='Route'){ class_alias('Route',$c);} else { class_alias('Any', $c);} });
foreach (['config','env','app','base_path','view','request','abort','public_path','resolve'] as $f) eval("function $f(...\$a){return '$f' === 'base_path' ? \$GLOBALS['root'].'/'.\$a[0] : (\$a[1] ?? new Any);}");
class R {
  static $p=[]; static $c=[]; public $prefix=null; public $ctl=null; public $i=[];
  function __call($n,$a){ return self::go($n,$a,$this); }
  static function show($c,$x=null){ if($x instanceof Closure) return '-'; if(is_array($x)) return isset($x['uses'])?show($x['uses']):(count($x)>1?$x[0].'@'.$x[1]:$x[0].'@__invoke'); if(is_string($x)) return strpos($x,'@')!==false?$x:($c&&!class_exists($x,false)&&strpos($x,'\\')===false?"$c@$x":"$x@__invoke"); return '-'; }
  static function add($ms,$path,$h){ $full='/'.trim(implode('/',array_filter(array_map(fn($x)=>trim($x,'/'),[...self::$p,$path]),fn($x)=>$x!=='')),'/'); foreach($ms as $m) echo strtoupper($m)." $full $h\n"; }
  static function sing($s){ return preg_match('/ies$/',$s)?substr($s,0,-3).'y':(preg_match('/(sses|shes|ches|xes)$/',$s)?substr($s,0,-2):(preg_match('/s$/',$s)&&!preg_match('/(ss|us|is)$/',$s)?substr($s,0,-1):$s)); }
  static function go($n,$a,$o){ $o??=new R; $c=$o->ctl ?? end(self::$c);
    if($n==='prefix'&&!$o->i){$o->prefix=$a[0];return $o;} if($n==='controller'){$o->ctl=$a[0];return $o;}
    if($n==='group'){ $opt=is_array($a[0])?$a[0]:[]; $f=end($a); $pre=$o->prefix ?? ($opt['prefix']??null); if($pre!==null)self::$p[]=$pre; self::$c[]=$o->ctl??($opt['controller']??end(self::$c)); if($f instanceof Closure)$f(new R); elseif(is_string($f)) require $f; array_pop(self::$c); if($pre!==null)array_pop(self::$p); return $o; }
    if(in_array($n,['get','post','put','patch','delete','options'])){ if($o->prefix!==null)self::$p[]=$o->prefix; self::add([$n],$a[0],self::show($c,$a[1]??null)); if($o->prefix!==null)array_pop(self::$p); $o->i=[1]; return $o; }
    if(in_array($n,['any','redirect','view'])){ self::add([$n==='view'?'get':'any'],$a[0],$n==='any'?self::show($c,$a[1]??null):'-'); return new R; }
    if($n==='match'){ self::add($a[0],$a[1],self::show($c,$a[2]??null)); return new R; }
    if(in_array($n,['resource','apiResource'])){ $GLOBALS['res'][]=$r=new Res; [$r->api,$r->a,$r->c,$r->p]=[$n==='apiResource',$a,$c,self::$p]; return $r; }
    return $o; }
}
class Res { public $o=[]; public $api,$a,$c,$p; function __call($n,$a){$this->o[$n]=count($a)>1?$a:$a[0];return $this;}
  function __destruct(){ $o=array_merge($this->a[2]??[],$this->o); R::$p=$this->p; $parts=explode('.',trim($this->a[0],'/')); $last=array_pop($parts); $b=''; foreach($parts as $x)$b.="$x/{".R::sing($x)."}/"; $coll=$b.$last; $seg=substr(strrchr('/'.$last,'/'),1); $par=$o['parameters'][$seg]??str_replace('-','_',R::sing($seg)); $m="$coll/{".$par."}";
   foreach(['index'=>[['get'],$coll],'create'=>[['get'],"$coll/create"],'store'=>[['post'],$coll],'show'=>[['get'],$m],'edit'=>[['get'],"$m/edit"],'update'=>[['put','patch'],$m],'destroy'=>[['delete'],$m]] as $k=>[$ms,$path]){ if($this->api&&in_array($k,['create','edit']))continue; if(isset($o['only'])&&!in_array($k,(array)$o['only']))continue; if(isset($o['except'])&&in_array($k,(array)$o['except']))continue; R::add($ms,$path,$this->a[1]."@$k"); } } }
class Route { static function __callStatic($n,$a){ return R::go($n,$a,null); } }
$root=$argv[1]; $GLOBALS['res']=[];
foreach(array_slice($argv,2) as $f) { require $f; $GLOBALS['res']=[]; R::$p=[]; }
