package shop;

import org.springframework.cloud.openfeign.FeignClient;
import org.springframework.web.bind.annotation.*;

@FeignClient("other")
public interface Client {
    @GetMapping("/elsewhere")
    String get();
}
